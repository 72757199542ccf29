#!/usr/bin/env python3
"""The process table: deaths, replacements, back-off, degraded and hung workers. The workers are fakes."""
import os
import signal
import sys
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SLOW, main
from fake import ROUTE, TICK, XML, Fake, alive, descriptors, until


def test_inherits_nothing_else():
    """0, 1, 2, control, bundle, page, generation folder, run folder, one listening socket, and what the fake itself opened (epoll, libuv's)."""
    with Fake(args=['--set', 'workers.http.instances=1'], http=0) as b:
        pid = b.worker('http.0')['pid']
        kinds = {n: os.readlink('/proc/%d/fd/%d' % (pid, n)) for n in descriptors(pid)}
        assert kinds[3].startswith('socket:'), kinds
        assert 'memfd:' in kinds[4] and 'memfd:' in kinds[5], kinds
        assert kinds[6] == os.path.join(b.rundir, 'gen.1') and kinds[7] == b.rundir, kinds
        assert kinds[8].startswith('socket:'), kinds
        assert not [k for n, k in kinds.items() if n > 8 and ('admin' in k or 'lock' in k or 'memfd' in k)], kinds
        with open('/proc/%d/status' % pid) as f:
            ignored = int([x for x in f if x.startswith('SigIgn')][0].split()[1], 16)
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            assert ignored >> (sig - 1) & 1, sig


def test_replaced_at_once_however_often():
    """It had served: a successor each time, same name, another incarnation."""
    with Fake(http=1) as b:
        seen = set()
        for n in range(30):
            w = b.worker('http.0')
            assert w['incarnation'] not in seen
            seen.add(w['incarnation'])
            t = time.monotonic()
            try:
                b.get('/exit')
                raise AssertionError('answered')
            except (OSError, ConnectionError) as e:
                assert 'answered' not in str(e)
            except Exception:  # http.client: remote end closed connection
                pass
            assert b.served_by()[0] == 'http.0'
            assert time.monotonic() - t < 0.5 * SLOW
        w = b.worker('http.0')
        assert w['deaths'] == 30 and w['last_words'] == 'exit status 4', w
        assert b.status()['kinds']['http'] == {'instances': 1, 'serving': 1, 'degraded': 0, 'deaths': 30}


def test_last_words_name_the_signal():
    with Fake() as b:
        os.kill(b.worker('http.1')['pid'], signal.SIGABRT)
        w = until(lambda: (lambda x: x if x['deaths'] == 1 and x['state'] == 'serving' else None)(b.worker('http.1')))
        assert w['last_words'] == 'killed by signal 6 (Aborted)', w
        b.wait_line(r'worker died.*http\.1.*signal 6')


def test_connections_in_the_queue_are_served_by_the_successor():
    """Connected to a stopped worker's socket; it is killed; the successor answers."""
    with Fake(http=1) as b:
        pid = b.worker('http.0')['pid']
        os.kill(pid, signal.SIGSTOP)
        waiting = [b.connect() for _ in range(10)]
        for s in waiting:
            s.sendall(b'GET /r HTTP/1.1\r\nHost: x\r\n\r\n')
        os.kill(pid, signal.SIGKILL)
        for s in waiting:
            answer = s.recv(1000)
            assert b'200 OK' in answer and str(pid).encode() not in answer, answer
            s.close()


def test_early_deaths_refuse_the_first_generation():
    with Fake({'http.1': 'die 7'}, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'worker http.1 ended before it was ready: exit status 7' in b.log(), b.log()
        assert len(b.said('BEGIN', 'http.1')) == 3  # it was tried again
        assert not os.path.exists(os.path.join(b.rundir, 'gen.1'))


def test_no_restart_status_refuses_at_once():
    with Fake({'http.1': 'die 125'}, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        assert len(b.said('BEGIN', 'http.1')) == 1


def test_crash_at_start():
    with Fake({'http': 'crash'}, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'signal 6' in b.log(), b.log()


def test_late_start():
    with Fake({'http.0': 'silent'}, settings=['supervisor.start_timeout=200ms'], wait=False) as b:
        assert b.proc.wait(20 * SLOW) == 1
        b.reader.join(5)
        assert 'http.0' in b.log() and 'start_timeout' in b.log(), b.log()


def test_other_build():
    with Fake({'http.0': 'build 9.9.9'}, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'another build' in b.log(), b.log()


def test_not_installed():
    b = Fake.__new__(Fake)
    b.prepare({})
    os.unlink(os.path.join(b.libexec, 'hinny-xform'))
    from broker import Broker
    Broker.__init__(b, {'r.yaml': XML}, extra_env={'HINNY_LIBEXECDIR': b.libexec, 'HINNY_FAKE': b.fake}, wait=False)
    with b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'hinny-xform' in b.log() and 'not installed' in b.log(), b.log()


def test_backoff_then_degraded_and_the_rest_goes_on():
    """Once it serves, a worker whose successors die at once is tried a while, then given up; its socket is served by its sibling."""
    with Fake(settings=['supervisor.restart_limit=4', 'supervisor.restart_backoff=20ms']) as b:
        b.play('http.1', 'die 9')
        os.kill(b.worker('http.1')['pid'], signal.SIGKILL)
        until(lambda: b.worker('http.1')['state'] == 'degraded', 10)
        tries = len(b.said('BEGIN', 'http.1')) - 1
        assert tries in (3, 4), tries  # the first death was of one that had lived for less than a second, or more
        assert b.status()['kinds']['http']['degraded'] == 1
        b.wait_line('worker is degraded.*http.1')
        for _ in range(40):
            assert b.served_by()[0] == 'http.0'
        # a reload is a fresh start
        b.play_nothing('http.1')
        b.hinny('reload', '--wait', check=True)
        until(lambda: b.worker('http.1', 2)['state'] == 'serving')
        assert {b.served_by()[0] for _ in range(60)} == {'http.0', 'http.1'}


def test_backoff_recovers():
    with Fake(settings=['supervisor.restart_limit=50', 'supervisor.restart_backoff=10ms', 'supervisor.restart_backoff_max=50ms']) as b:
        b.play('http.1', 'die 9')
        os.kill(b.worker('http.1')['pid'], signal.SIGKILL)
        until(lambda: len(b.said('BEGIN', 'http.1')) >= 5)
        b.play_nothing('http.1')
        until(lambda: b.worker('http.1')['state'] == 'serving')


def test_a_successor_that_refuses_is_degraded():
    with Fake() as b:
        b.play('http.1', 'refuse the disk is full')
        os.kill(b.worker('http.1')['pid'], signal.SIGKILL)
        until(lambda: b.worker('http.1')['state'] == 'degraded')
        assert len(b.said('BEGIN', 'http.1')) == 2
        b.wait_line('worker http.1 refused its generation: the disk is full')
        assert b.served_by()[0] == 'http.0'


def test_dies_right_after_start():
    """READY and START, then death with nothing served: back-off, not a loop at full speed."""
    with Fake({'http.1': 'short'}, settings=['supervisor.restart_limit=5', 'supervisor.restart_backoff=20ms']) as b:
        until(lambda: b.worker('http.1')['state'] == 'degraded', 10)
        assert len(b.said('BEGIN', 'http.1')) == 5
        assert b.worker('http.1')['last_words'] == 'exit status 3'
        assert b.served_by()[0] == 'http.0'


def test_hung_worker():
    with Fake({'http.1': 'hang'}, settings=['supervisor.ping_interval=50ms', 'supervisor.ping_timeout=300ms']) as b:
        first = b.worker('http.1')['pid']
        b.play_nothing('http.1')
        w = until(lambda: (lambda x: x if x['deaths'] == 1 else None)(b.worker('http.1')))
        assert not alive(first) and 'ping_timeout' in w['last_words'], w
        b.wait_line('worker http.1 hangs')
        pid = b.worker('http.0')['pid']
        os.kill(pid, signal.SIGSTOP)  # a real hang
        until(lambda: b.worker('http.0')['deaths'] == 1)
        assert not alive(pid)
        until(lambda: b.worker('http.0')['state'] == 'serving')


def test_time_limit_of_a_call():
    """A call in the page that is too old: killed, and the peers hear of it with the call's id."""
    with Fake({'xform.0': 'call'}, {'r.yaml': XML}, settings=['xform.time_limit=300ms', 'supervisor.ping_interval=50ms', 'supervisor.ping_timeout=100ms',
                                                             'workers.xform.instances=1']) as b:
        b.play_nothing('xform.0')
        w = until(lambda: (lambda x: x if x['deaths'] == 1 and x['state'] == 'serving' else None)(b.worker('xform.0')))
        assert 'xform.time_limit' in w['last_words'], w
        assert len(b.said('PEER_DOWN', 'http.0')) == 1 and len(b.said('PEER_DOWN', 'http.1')) == 1
        until(lambda: len(b.said('PEER_UP', 'http.0')) == 3)  # http.1, xform.0 and its successor
        time.sleep(0.5)
        assert b.worker('xform.0')['deaths'] == 1


def test_peers_hear_of_deaths():
    with Fake({}, {'r.yaml': XML + TICK}, settings=['workers.xform.instances=2']) as b:
        names = ['http.0', 'http.1', 'xform.0', 'xform.1', 'flow.0']
        for n in names:
            until(lambda: len(b.said('PEER_UP', n)) == 4)
        os.kill(b.worker('xform.1')['pid'], signal.SIGKILL)
        for n in names[:3] + names[4:]:
            until(lambda: len(b.said('PEER_DOWN', n)) == 1 and len(b.said('PEER_UP', n)) == 5)


def test_supervisor_killed():
    """The workers see the end of their control socket; a restart at once on the same port and folder serves."""
    with Fake() as b:
        pids = b.pids()[1:]
        b.signal(signal.SIGKILL)
        b.proc.wait(5)
        until(lambda: not [p for p in pids if alive(p)], 5)
        assert len(b.said('END')) == 2
        os.makedirs(os.path.join(b.rundir, 'gen.17', 'deep'))
        open(os.path.join(b.rundir, 'http.0.99999'), 'w').close()
        second = Fake.__new__(Fake)
        second.prepare({})
        from broker import Broker
        Broker.__init__(second, {'r.yaml': ROUTE}, settings=['workers.http.instances=2'], port=b.port, args=['--dir', b.rundir],
                        extra_env={'HINNY_LIBEXECDIR': second.libexec, 'HINNY_FAKE': second.fake})
        second.rundir = b.rundir
        with second:
            assert second.served_by()[1] == 1
            until(lambda: not os.path.exists(os.path.join(b.rundir, 'gen.17')))
            assert not os.path.exists(os.path.join(b.rundir, 'http.0.99999'))
            assert second.worker('http.0')['incarnation'] > 4000  # none of the killed one's comes again


if __name__ == '__main__':
    main(globals())
