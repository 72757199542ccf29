#!/usr/bin/env python3
"""Reload, drain and end as the supervisor carries them out. The workers are fakes."""
import os
import signal
import socket
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, free_port, main
from fake import ROUTE, TICK, XML, Fake, alive, settle_to, until

HINNYD = [os.path.join(BUILD, 'hinnyd'), '-c', 'hinny.yaml']


def test_handover():
    """The new ones serve before the old ones drain; the old ones stop together; nothing of them is left."""
    with Fake() as b:
        old = b.pids()[1:]
        assert b.hinny('reload', '--wait')[1].strip() == 'generation 2 serves'
        settle_to(b, 2)
        assert b.served_by()[1] == 2
        assert not [p for p in old if alive(p)]
        assert not os.path.exists(os.path.join(b.rundir, 'gen.1')) and os.path.exists(os.path.join(b.rundir, 'gen.2'))
        until(lambda: len(b.said('START', generation=2)) == 2)
        assert len(b.said('DRAIN', generation=1)) == 2 and len(b.said('STOP', generation=1)) == 2
        assert b.status()['last_reload']['ok'] is True


def test_sources_start_when_the_old_ones_have_stopped():
    with Fake({'flow': 'sources 300'}, {'r.yaml': TICK + ROUTE}) as b:
        until(lambda: len(b.said('START_SOURCES', generation=1)) == 3)
        b.hinny('reload', '--wait', check=True)
        until(lambda: len(b.said('START_SOURCES', generation=2)) == 3)
        order = b.order('SOURCES_STOPPED', 'START_SOURCES')
        assert order.index('flow.0 1 SOURCES_STOPPED') < min(order.index('%s 2 START_SOURCES' % n) for n in ('flow.0', 'http.0', 'http.1')), order


def test_sources_start_when_the_old_one_dies():
    with Fake({'flow': 'sources 60000\nkeep'}, {'r.yaml': TICK + ROUTE}, settings=['supervisor.drain_timeout=2s']) as b:
        b.hinny('reload', '--wait', check=True)
        time.sleep(0.2)
        assert not b.said('START_SOURCES', generation=2)
        os.kill(b.worker('flow.0', 1)['pid'], signal.SIGKILL)
        until(lambda: len(b.said('START_SOURCES', generation=2)) == 3)
        assert len(b.said('BEGIN', 'flow.0', 1)) == 1  # a draining source has no successor


def test_refused_by_a_worker():
    with Fake() as b:
        b.play('http.1', 'refuse r.yaml:3:5: route.from: the fake says no')
        status, out, err = b.hinny('reload', '--wait')
        assert status == 1 and 'r.yaml:3:5: route.from: the fake says no' in err, (status, out, err)
        settle_to(b, 1)
        assert b.served_by()[1] == 1
        b.wait_line('^r.yaml:3:5: route.from')
        assert 'the fake says no' in b.status()['last_reload']['text']
        until(lambda: not os.path.exists(os.path.join(b.rundir, 'gen.2')))
        b.play_nothing('http.1')
        b.hinny('reload', '--wait', check=True)
        settle_to(b, 3)


def test_refused_by_the_compiler():
    with Fake() as b:
        b.write('r.yaml', ROUTE.replace('setBody', 'setBodi'))
        status, out, err = b.hinny('reload', '--wait')
        assert status == 1 and 'r.yaml:6:' in err and 'setBodi' in err, (status, err)
        assert len(b.said('BEGIN')) == 2  # nothing was started
        status, out, err = b.hinny('reload', '--wait', '--json')
        import json
        assert status == 1 and json.loads(out)['ok'] is False and 'setBodi' in json.loads(out)['error']


def test_refused_at_start():
    with Fake({'http.0': 'refuse r.yaml:1:2: no such thing'}, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'r.yaml:1:2: no such thing' in b.lines, b.log()
        assert not [n for n in os.listdir(b.rundir) if n not in ('lock',)]


def test_death_during_a_reload_refuses_it():
    with Fake() as b:
        b.play('http.0', 'crash')
        status, out, err = b.hinny('reload', '--wait')
        assert status == 1 and 'http.0' in err and 'signal 6' in err, (status, err)
        assert b.served_by()[1] == 1
        settle_to(b, 1)


def test_storm_becomes_one():
    with Fake() as b:
        b.play('http.0', 'silent')
        b.signal(signal.SIGHUP)
        until(lambda: b.said('BEGIN', 'http.0', 2))
        b.play_nothing('http.0')
        for _ in range(50):
            b.signal(signal.SIGHUP)
            time.sleep(0.002)
        assert b.status()['reload_waits'] is True
        os.kill(b.worker('http.0', 2)['pid'], signal.SIGKILL)  # tried again, comes up now
        until(lambda: b.status()['generation'] == 3)
        time.sleep(0.3)
        settle_to(b, 3)


def test_at_most_three_old_generations():
    with Fake({'http': 'slow %d' % (1500 * SLOW)}) as b:
        for _ in range(3):
            b.hinny('reload', '--wait', check=True)
        states = [g['state'] for g in b.status()['generations']]
        assert states == ['draining'] * 3 + ['serving'], states
        status, out, err = b.hinny('reload')
        assert status == 0 and '3 old generations' in out, out
        b.wait_line('reload waits: 3 old generations')
        assert b.status()['generation'] == 4
        t = time.monotonic()
        assert 'generation 5' in b.hinny('reload', '--wait', check=True)[1]  # the one that waits is enough for both
        assert time.monotonic() - t > 0.2
        until(lambda: len(b.status()['generations']) <= 4)
        assert b.status()['generation'] == 5


def test_drain_timeout_cuts():
    with Fake({'http': 'keep'}, settings=['supervisor.drain_timeout=300ms']) as b:
        old = b.pids()[1:]
        b.hinny('reload', '--wait', check=True)
        b.wait_line('generation 1: drain timeout has passed, 2 exchanges')
        settle_to(b, 2)
        assert not [p for p in old if alive(p)]


def test_what_a_dead_worker_had_is_not_waited_for():
    with Fake({'http': 'keep'}) as b:
        b.play_nothing('http')
        b.hinny('reload', '--wait', check=True)
        time.sleep(0.3)  # rounds in which they say what they have
        for i in (0, 1):
            os.kill(b.worker('http.%d' % i, 1)['pid'], signal.SIGKILL)
        settle_to(b, 2)  # long before drain_timeout


def test_a_worker_that_does_not_stop_is_killed():
    with Fake({'http.1': 'stubborn'}) as b:
        old = b.worker('http.1')['pid']
        b.play_nothing('http.1')
        b.hinny('reload', '--wait', check=True)
        until(lambda: not alive(old))
        settle_to(b, 2)


def test_callee_is_replaced_in_a_draining_generation():
    with Fake({'http': 'keep'}, {'r.yaml': XML}, settings=['workers.xform.instances=1', 'supervisor.drain_timeout=4s']) as b:
        b.hinny('reload', '--wait', check=True)
        victim = b.worker('xform.0', 1)['pid']
        time.sleep(1.0)  # so that it has proved itself
        os.kill(victim, signal.SIGKILL)
        until(lambda: b.worker('xform.0', 1)['state'] == 'draining' and b.worker('xform.0', 1)['pid'] != victim)
        until(lambda: len(b.said('PEER_UP', 'http.0', 1)) == 3)
        os.kill(b.worker('http.0', 1)['pid'], signal.SIGKILL)
        until(lambda: b.worker('http.0', 1)['state'] == 'dead')


def test_fewer_and_more_workers():
    """Connections in the queue of a socket whose worker is no more are answered; then all workers get some."""
    conf = 'routes: [r.yaml]\nhttp:\n  listen: ["127.0.0.1:%d"]\nworkers:\n  http:\n    instances: %d\n'
    port = free_port()
    with Fake(files={'r.yaml': ROUTE, 'hinny.yaml': conf % (port, 4)}, port=port, http=0, command=HINNYD) as b:
        assert {b.served_by()[0] for _ in range(200)} == {'http.%d' % i for i in range(4)}
        stopped = [b.worker('http.%d' % i)['pid'] for i in (2, 3)]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        waiting = [b.connect() for _ in range(40)]
        for s in waiting:
            s.sendall(b'GET /r HTTP/1.1\r\nHost: x\r\n\r\n')
        b.write('hinny.yaml', conf % (port, 2))
        b.hinny('reload', '--wait', check=True)
        for s in waiting:
            s.settimeout(5 * SLOW)
            assert b'200 OK' in s.recv(1000)
            s.close()
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        settle_to(b, 2)
        assert {b.served_by()[0] for _ in range(100)} == {'http.0', 'http.1'}
        b.write('hinny.yaml', conf % (port, 3))
        b.hinny('reload', '--wait', check=True)
        settle_to(b, 3)
        assert {b.served_by()[0] for _ in range(200)} == {'http.0', 'http.1', 'http.2'}


def test_no_connection_is_refused_during_reloads():
    with Fake() as b:
        stop, bad, n = threading.Event(), [], [0]

        def client():
            while not stop.is_set():
                try:
                    assert b.get('/r')[0] == 200
                    n[0] += 1
                except Exception as e:
                    bad.append(repr(e))
        threads = [threading.Thread(target=client) for _ in range(8)]
        for t in threads:
            t.start()
        for _ in range(15):
            b.hinny('reload', '--wait', check=True)
        stop.set()
        for t in threads:
            t.join()
        assert not bad and n[0] > 100, (n, bad[:3])
        settle_to(b, 16)
        assert len(os.listdir('/proc/%d/fd' % b.proc.pid)) < 40


def test_a_changed_address():
    one, two = free_port(), free_port()
    conf = 'routes: [r.yaml]\nhttp:\n  listen: ["127.0.0.1:%d"]\n'
    with Fake(files={'r.yaml': ROUTE, 'hinny.yaml': conf % one}, port=one, command=HINNYD) as b:
        assert b.served_by()[1] == 1
        taken = socket.create_server(('127.0.0.1', two))
        b.write('hinny.yaml', conf % two)
        status, out, err = b.hinny('reload', '--wait')
        assert status == 1 and str(two) in err and 'in use' in err, err
        assert b.served_by()[1] == 1
        taken.close()
        b.hinny('reload', '--wait', check=True)
        b.port = two
        assert b.served_by()[1] >= 2

        def refused():
            try:
                socket.create_connection(('127.0.0.1', one), 1).close()
            except OSError:
                return True
        until(refused)


def test_unix_socket():
    with Fake(files={'r.yaml': ROUTE, 'hinny.yaml': 'routes: [r.yaml]\nhttp:\n  listen: ["unix:u.sock"]\n'}, command=HINNYD) as b:
        path = os.path.join(b.folder, 'u.sock')
        served = set()
        for _ in range(40):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                s.sendall(b'GET /r HTTP/1.1\r\nHost: x\r\n\r\n')
                served.add(s.recv(1000).split(b'\r\n\r\n')[1].split()[0])
        assert served <= {b'http.0', b'http.1'} and served
        b.hinny('reload', '--wait', check=True)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(b'GET /r HTTP/1.1\r\nHost: x\r\n\r\n')
            assert b' 2 ' in s.recv(1000)
        assert b.stop() == 0
        assert not os.path.exists(path)


def test_sigterm_drains():
    with Fake({'http': 'slow 500'}) as b:
        pids = b.pids()
        t = time.monotonic()
        assert b.stop() == 0
        assert 0.4 < time.monotonic() - t < 3 * SLOW
        assert not [p for p in pids if alive(p)]
        assert not os.path.exists(os.path.join(b.rundir, 'admin.sock'))


def test_sigterm_refuses_new_connections():
    with Fake({'http': 'slow 800'}) as b:
        b.signal(signal.SIGTERM)
        until(lambda: len(b.said('DRAIN')) == 2)
        try:
            b.connect()
            raise AssertionError('connected')
        except ConnectionRefusedError:
            pass
        assert b.proc.wait(10 * SLOW) == 0


def test_sigterm_twice_ends_at_once():
    with Fake({'http': 'keep\nstubborn'}) as b:
        pids = b.pids()
        b.signal(signal.SIGTERM)
        until(lambda: len(b.said('DRAIN')) == 2)
        t = time.monotonic()
        b.signal(signal.SIGTERM)
        assert b.proc.wait(10 * SLOW) == 0
        assert time.monotonic() - t < 0.5 * SLOW
        assert not [p for p in pids if alive(p)]


def test_sigterm_while_starting():
    with Fake({'http': 'silent'}, wait=False) as b:
        until(lambda: len(b.said('BEGIN')) == 2)
        pids = b.pids()
        b.signal(signal.SIGTERM)
        assert b.proc.wait(10 * SLOW) == 0
        assert not [p for p in pids if alive(p)]


def test_sigterm_during_a_reload():
    with Fake() as b:
        b.play('http.0', 'silent')
        b.signal(signal.SIGHUP)
        until(lambda: b.said('BEGIN', 'http.0', 2) and len(b.pids()) == 5)
        pids = b.pids()
        assert b.stop() == 0
        assert not [p for p in pids if alive(p)]


def test_drain_and_back():
    with Fake() as b:
        b.hinny('drain', check=True)
        until(lambda: b.status()['phase'] == 'drained' and b.status()['generations'][0]['state'] == 'drained')
        try:
            b.connect()
            raise AssertionError('connected')
        except ConnectionRefusedError:
            pass
        b.hinny('reload', '--wait', check=True)
        assert b.served_by()[1] == 2
        settle_to(b, 2)
        b.hinny('drain', check=True)
        assert b.stop() == 0


def test_stop_command():
    with Fake({'http': 'slow 300'}) as b:
        pids = b.pids()
        t = time.monotonic()
        assert b.hinny('stop', check=True)[1] == 'stopped\n'
        assert time.monotonic() - t > 0.25
        until(lambda: not [p for p in pids if alive(p)])
        assert b.proc.wait(5) == 0


def test_stop_now():
    with Fake({'http': 'keep\nstubborn'}) as b:
        t = time.monotonic()
        b.hinny('stop', '--now', check=True)
        assert time.monotonic() - t < 1 * SLOW
        assert b.proc.wait(5) == 0


def test_watch_sees_what_changes_while_it_starts():
    with Fake({'http.0': 'silent'}, watch=True, wait=False) as b:
        until(lambda: b.said('BEGIN', 'http.0', 1))
        b.write('r.yaml', ROUTE.replace('hi', 'ho'))  # it was read, and is not watched yet
        b.play_nothing('http.0')
        os.kill(b.worker('http.0', 1)['pid'], signal.SIGKILL)
        until(lambda: os.path.exists(os.path.join(b.rundir, 'admin.sock')))  # it is opened when the first generation serves
        until(lambda: b.status()['generation'] == 2)


def test_watch():
    with Fake(watch=True) as b:
        b.write('r.yaml', ROUTE.replace('hi', 'ho'))
        until(lambda: b.status()['generation'] == 2)
        b.write('other.txt', 'x')
        time.sleep(0.4)
        assert b.status()['generation'] == 2


def test_watch_of_files_that_routes_name():
    sheet = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">%s</xsl:stylesheet>'
    route = '- route:\n    id: r\n    from:\n      uri: platform-http:/r\n      steps:\n        - to: "xslt:a.xsl"\n        - setBody: {simple: "resource:classpath:t.txt"}\n'
    with Fake(files={'r.yaml': route, 'a.xsl': sheet % '<xsl:include href="b.xsl"/>', 'b.xsl': sheet % '', 't.txt': 'x'}, watch=True) as b:
        time.sleep(0.4)
        assert b.status()['generation'] == 1, b.log()  # nothing has changed
        b.write('a.xsl', sheet % '<xsl:include href="b.xsl"/><!-- -->')
        until(lambda: b.status()['generation'] == 2)
        b.write('t.txt', 'y')
        until(lambda: b.status()['generation'] == 3)
        time.sleep(0.4)
        assert b.status()['generation'] == 3, b.log()


def test_held_port_is_waited_for():
    """hinnyd waits for a port that the workers of a killed one may still hold; hinny run says so after a second."""
    port = free_port()
    taken = socket.create_server(('127.0.0.1', port))
    with Fake(files={'r.yaml': ROUTE, 'hinny.yaml': 'routes: [r.yaml]\nhttp:\n  listen: ["127.0.0.1:%d"]\n' % port}, port=port, http=0,
              command=HINNYD, wait=False) as b:
        b.wait_line('address already in use')
        time.sleep(0.2)
        taken.close()
        b.wait_line(r'ready in \d+ ms')
        assert b.served_by()[1] == 1
        assert b.stop() == 0
    taken = socket.create_server(('127.0.0.1', port))
    with Fake(port=port, wait=False) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'in use' in b.log() and str(port) in b.log()
    taken.close()


if __name__ == '__main__':
    main(globals())
