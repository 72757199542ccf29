#!/usr/bin/env python3
"""Random kills, hangs, refusals, reloads, drains: at the end it serves, with one generation, its workers, and nothing left over. The workers are fakes."""
import os
import random
import signal
import sys
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SLOW, main, setting
from fake import ROUTE, TICK, XML, Fake, children, until

SECONDS = setting('CHAOS_SECONDS', 5.0, 120.0)
SETTINGS = ['supervisor.restart_limit=4', 'supervisor.restart_backoff=5ms', 'supervisor.restart_backoff_max=20ms', 'supervisor.ping_interval=50ms',
            'supervisor.ping_timeout=400ms', 'supervisor.drain_timeout=700ms', 'supervisor.start_timeout=500ms', 'xform.time_limit=200ms']
PLAYS = ['die 1', 'die 125', 'crash', 'silent', 'short', 'hang', 'slow 200', 'keep', 'stubborn', 'call', 'sources 150', 'build x', 'refuse r.yaml:1:1: no']
NAMES = ['http.0', 'http.1', 'http', 'xform.0', 'xform', 'flow']


def kill_one(b, rnd):
    pids = children(b.proc.pid)
    if pids:
        try:
            os.kill(rnd.choice(pids), rnd.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGABRT]))
        except ProcessLookupError:
            pass


def play(b, rnd):
    b.play(rnd.choice(NAMES), rnd.choice(PLAYS))


def play_nothing(b, rnd):
    name = rnd.choice(NAMES)
    if os.path.exists(os.path.join(b.fake, name)):
        b.play_nothing(name)


def hup(b, rnd):
    b.signal(signal.SIGHUP)


def bad_file(b, rnd):
    b.write('r.yaml', 'x: [')
    b.signal(signal.SIGHUP)
    time.sleep(rnd.random() * 0.05)
    b.write('r.yaml', ROUTE + XML + TICK)


def drain(b, rnd):
    b.hinny('drain')


def status(b, rnd):
    b.status()


ACTIONS = [kill_one] * 6 + [play] * 3 + [play_nothing] * 6 + [hup] * 5 + [bad_file, drain, status, status]


def test_chaos():
    seed = int(os.environ.get('HINNY_SEED', '0')) or random.randrange(1 << 30)
    print('HINNY_SEED=%d' % seed)
    rnd = random.Random(seed)
    with Fake({}, {'r.yaml': ROUTE + XML + TICK}, settings=SETTINGS + ['workers.xform.instances=2']) as b:
        end = time.monotonic() + SECONDS
        n = 0
        while time.monotonic() < end:
            action = rnd.choice(ACTIONS)
            action(b, rnd)
            n += 1
            assert b.proc.poll() is None, action.__name__
            time.sleep(rnd.random() * 0.05)
        for name in NAMES:
            if os.path.exists(os.path.join(b.fake, name)):
                b.play_nothing(name)

        def calm():
            s = b.status()
            if len(s['generations']) == 1 and not s['reload_waits'] and s['phase'] == 'serving' and \
                    all(k['serving'] == k['instances'] for k in s['kinds'].values()):
                return True
            time.sleep(0.1)
            if len(s['generations']) <= 1:
                b.hinny('reload')  # degraded workers, a drained broker, one whose drain timeout has passed
            return False

        def stays_calm():
            if not calm():
                return False
            time.sleep(0.6)  # a stopped worker shows by its ping timeout
            return calm()
        until(stays_calm, 30, 'calm after %d actions' % n)
        assert len(children(b.proc.pid)) == 5, [open('/proc/%d/comm' % p).read() for p in children(b.proc.pid)]
        left = [x for x in os.listdir(b.rundir) if x.startswith('gen.')]
        assert left == ['gen.%d' % b.status()['generation']], left
        assert len(os.listdir('/proc/%d/fd' % b.proc.pid)) < 45
        assert b.served_by()[0].startswith('http.')
        with open('/proc/%d/statm' % b.proc.pid) as f:
            print('%d actions, generation %d, %d KiB' % (n, b.status()['generation'], int(f.read().split()[1]) * 4))
        assert b.stop(20) == 0


if __name__ == '__main__':
    main(globals())
