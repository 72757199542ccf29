#!/usr/bin/env python3
"""Reloads under load: no request fails, no connection is reset, what is refused changes nothing, and the old processes go."""
import http.client
import os
import signal
import socket
import sys
import threading
import time
import zlib
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
import flows
from broker import Backend, Broker, SANITIZED, SLOW, alive, hinny, main, own_kib, read_all, setting, until

RELOADS = max(6, setting('RELOADS', 10, 30))
PACE = setting('RELOAD_PACE', 0.25, 1.0)  # seconds from one to the next
TRANSFER = setting('TRANSFER_MIB', 64, 1024) << 20


def settled(b, generation=None):
    """Waits until only one generation runs."""
    def look():
        s = b.status()
        return len(s['generations']) == 1 and s['generations'][0]['state'] == 'serving' and (generation is None or s['generation'] == generation)
    until(look, 40, 'only generation %s' % (generation or 'one'))


def reload(b, status=0):
    r = b.hinny('reload', '--wait')
    assert r[0] == status, r
    return r[1] + r[2]


# ---- 64 clients

CHANGED_DIRECT = flows.read('direct-proxy.yaml').decode() + '        - setBody: {constant: changed}\n'
CHANGED_CBR = flows.read('content-based-router.yaml').decode() + '        - setBody: {constant: changed}\n'
CHANGED_XSL = flows.read('response.xsl').decode().replace('<symbol>', '<ticker>').replace('</symbol>', '</ticker>')
GOOD = {
    'direct-proxy.yaml': (flows.read('direct-proxy.yaml'), CHANGED_DIRECT),
    'content-based-router.yaml': (flows.read('content-based-router.yaml'), CHANGED_CBR),
    'response.xsl': (flows.read('response.xsl'), CHANGED_XSL),
}
BAD = [  # file, text, what the refusal says
    ('direct-proxy.yaml', '- route:\n    from: {uri: "platform-http:/x", steps: [\n', 'direct-proxy.yaml:'),
    ('content-based-router.yaml', flows.read('content-based-router.yaml').decode().replace("symbol = 'IBM'", "symbol = = 'IBM'"), 'content-based-router.yaml:'),
    ('response.xsl', CHANGED_XSL.replace('select="code"', 'select="code["'), 'response.xsl'),
]


def change(b, n):
    """The nth change: what is new is good (twice) or refused (three times)."""
    kind = n % 5
    if kind < 2:
        for name, variants in GOOD.items():
            b.write(name, variants[1 - kind])
        reload(b)
        return True
    name, text, said = BAD[kind - 2]
    b.write(name, text)
    assert said in reload(b, 1)
    b.write(name, GOOD[name][0])
    return False


def test_many_under_64_clients():
    with flows.broker({'changed': b'changed', 'changed.xml': transformed_differently('1k')}) as b:
        loads = []
        seconds = RELOADS * PACE * (3 if SANITIZED else 1) + 1
        for flow, other, clients in (('DirectProxy', 'changed', 22), ('CBRProxy', 'changed', 21), ('XSLTProxy', 'changed.xml', 21)):
            loads.append(flows.load(b, flow, connections=clients, seconds=seconds,
                                    expect=[flows.answer(flow, '1k'), os.path.join(b.folder, other)]))
        first = b.pids()
        generation, sizes = 1, []
        for n in range(RELOADS):
            began = time.monotonic()
            generation += change(b, n)
            if n in (4, RELOADS - 1):
                settled(b)
                sizes.append(own_kib(b.pids()))
            time.sleep(max(0, PACE - (time.monotonic() - began)))
        results = [load.all_ok(retried=0, timeout=240) for load in loads]
        print('%d reloads, %d requests' % (RELOADS, sum(r['requests'] for r in results)))
        settled(b)
        assert b.status()['kinds']['http']['deaths'] == 0 and b.status()['kinds']['xform']['deaths'] == 0
        assert not [p for p in first[1:] if alive(p)], 'old processes are left'
        assert os.listdir(b.rundir).count('gen.%d' % b.status()['generation']) == 1
        assert len([n for n in os.listdir(b.rundir) if n.startswith('gen.')]) == 1, os.listdir(b.rundir)
        print('own memory: %d KiB after 5 reloads, %d KiB after all' % tuple(sizes))
        if not SANITIZED:
            assert sizes[1] < sizes[0] * 1.15 + 2048, sizes


def transformed_differently(size):
    with open(flows.answer('XSLTProxy', size), 'rb') as f:
        return f.read().replace(b'<symbol>', b'<ticker>').replace(b'</symbol>', b'</ticker>')


# ---- what a refusal says

def test_refusal_speaks_as_check_does():
    with Broker({'r.yaml': route('one')}) as b:
        assert 'generation 2' in reload(b)
        b.write('r.yaml', route('two').replace('setBody', 'setBodi'))
        said = reload(b, 1)
        status, out, err = hinny('check', 'r.yaml', cwd=b.folder)
        line = [x for x in (out + err).splitlines() if 'setBodi' in x][0]
        assert status == 1 and line in said and line.startswith('r.yaml:6:') and 'did you mean "setBody"' in line, (line, said)
        b.wait_line('r.yaml:6:.*setBodi')
        assert b.get('/r')[2] == b'one'
        assert b.status()['last_reload']['ok'] is False
        b.write('r.yaml', route('three'))
        reload(b)
        assert b.get('/r')[2] == b'three'


def route(text, path='/r', extra=''):
    return '- route:\n    id: r\n    from:\n      uri: platform-http:%s\n      steps:\n        - setBody: {constant: "%s"}\n%s' % (path, text, extra)


def test_b03_unknown_entry_on_reload():
    good = '- route: {id: good, from: {uri: "platform-http:/b03", steps: [{setBody: {constant: {expression: ok}}}]}}\n'
    with Broker({'r.yaml': good}) as b:
        b.write('r.yaml', good + '- rout:  {id: bad,  from: {uri: "platform-http:/b03x", steps: [{setBody: {constant: {expression: never}}}]}}\n')
        said = reload(b, 1)
        assert 'r.yaml:2:' in said and 'rout' in said, said
        assert b.get('/b03')[2] == b'ok' and b.get('/b03x')[0] == 404
        assert b.status()['generation'] == 1


def test_a_changed_file_reloads_by_itself():
    with Broker({'r.yaml': route('one')}, watch=True) as b:
        assert b.get('/r')[2] == b'one'
        b.write('r.yaml', route('two'))
        until(lambda: b.get('/r')[2] == b'two', 10, 'the new answer')


# ---- transfers

def pattern(n):
    return zlib.crc32(b'%d' % n).to_bytes(4, 'big') * 262144  # 1 MiB


PROXY = ('- from:\n    uri: platform-http:/big\n    steps:\n      - removeHeaders: {pattern: "CamelHttp*", excludePattern: "CamelHttpMethod"}\n'
         '      - to: "http://127.0.0.1:{{back}}/big?bridgeEndpoint=true"\n')


def test_a_large_answer_is_finished():
    def handler(head, body, s):
        s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % TRANSFER)
        for i in range(TRANSFER >> 20):
            s.sendall(pattern(i))
        return None
    with Backend(handler) as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=60 * SLOW)
        con.request('GET', '/big')
        ans = con.getresponse()
        for i in range(TRANSFER >> 20):
            assert ans.read(1 << 20) == pattern(i), 'MiB %d' % i
            if i == (TRANSFER >> 21):
                reload(b)
                assert len(b.status()['generations']) == 2
        assert ans.read() == b''
        con.close()
        settled(b, 2)


def test_a_large_request_is_finished():
    with CountingBackend() as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=60 * SLOW)
        con.putrequest('POST', '/big')
        con.putheader('Content-Length', str(TRANSFER))
        con.endheaders()
        crc = 0
        for i in range(TRANSFER >> 20):
            crc = zlib.crc32(pattern(i), crc)
            con.send(pattern(i))
            if i == (TRANSFER >> 21):
                reload(b)
        ans = con.getresponse()
        assert ans.status == 200 and ans.read() == b'%d %d' % (TRANSFER, crc)
        con.close()
        settled(b, 2)


class CountingBackend:
    """Answers a request with the length and checksum of its body, which it does not keep."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        s, _ = self.listener.accept()
        f = s.makefile('rb')
        length = None
        chunked = False
        while True:
            line = f.readline().strip().lower()
            if not line:
                break
            if line.startswith(b'content-length:'):
                length = int(line.split(b':')[1])
            chunked |= line.startswith(b'transfer-encoding:') and b'chunked' in line
        n = crc = 0
        while length != 0:
            size = int(f.readline(), 16) if chunked else min(length, 65536)
            part = f.read(size)
            n, crc = n + len(part), zlib.crc32(part, crc)
            if chunked:
                f.readline()
                if size == 0:
                    break
            else:
                length -= len(part)
        text = b'%d %d' % (n, crc)
        s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(text) + text)

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.listener.close()


# ---- B26

def slow_route(text):
    return route(text, extra='        - delay: {constant: "2000"}\n')


class Waiting:
    """10 requests on kept-alive connections, in flight."""

    def __init__(self, b):
        self.connections = [http.client.HTTPConnection('127.0.0.1', b.port, timeout=20 * SLOW) for _ in range(10)]
        for con in self.connections:
            con.request('GET', '/r')
        until(lambda: sum(r['in_flight'] for r in b.status()['generations']) == 10, 10, '10 requests in flight')

    def answers(self):
        out = []
        for con in self.connections:
            ans = con.getresponse()
            out.append((ans.status, ans.read()))
            con.close()
        return out


def test_b26a_sigterm_lets_them_finish():
    with Broker({'r.yaml': slow_route('old')}) as b:
        w = Waiting(b)
        b.signal(signal.SIGTERM)
        until(lambda: not accepts(b.port), 1, 'new connections are refused')
        assert w.answers() == [(200, b'old')] * 10
        ended = time.monotonic()
        assert b.proc.wait(10 * SLOW) == 0
        assert time.monotonic() - ended < 1 * SLOW


def accepts(port):
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
        return True
    except OSError:
        return False


def test_b26a_one_without_end_is_cut():
    endless = route('x', extra='        - delay: {constant: "600000"}\n')
    with Broker({'r.yaml': endless}, settings=['supervisor.drain_timeout=1s']) as b:
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=20 * SLOW)
        con.request('GET', '/r')
        until(lambda: b.status()['generations'][0]['in_flight'] == 1, 10)
        began = time.monotonic()
        b.signal(signal.SIGTERM)
        assert b.proc.wait(15 * SLOW) == 0
        assert 0.9 < time.monotonic() - began < 8 * SLOW
        b.wait_line('drain timeout has passed, 1 exchange')
        con.close()


def test_sigterm_under_load():
    """The flows call a route of the same broker: what is in flight is finished all the same."""
    for flow in flows.FLOWS:
        with flows.broker() as b:
            load = flows.load(b, flow, connections=32, seconds=0.8)
            time.sleep(0.4)
            b.signal(signal.SIGTERM)
            assert b.proc.wait(15 * SLOW) == 0
            r = load.result()
            assert r['ok'] == r['requests'] > 0, r
            assert 'Failed delivery' not in b.log(), b.log()


def test_a_second_sigterm_ends_at_once():
    with Broker({'r.yaml': slow_route('x').replace('2000', '600000')}) as b:
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=20 * SLOW)
        con.request('GET', '/r')
        until(lambda: b.status()['generations'][0]['in_flight'] == 1, 10)
        b.signal(signal.SIGTERM)
        b.wait_line('ending')
        b.signal(signal.SIGTERM)
        assert b.proc.wait(5 * SLOW) == 0
        con.close()


def test_b26b_sighup_with_a_changed_text():
    with Broker({'r.yaml': slow_route('old')}) as b:
        w = Waiting(b)
        old = b.workers()
        b.write('r.yaml', route('new'))
        refused = []
        stop = threading.Event()

        def knock():  # no connection is refused or reset, all the time
            while not stop.is_set():
                try:
                    b.get('/nothing')
                except OSError as e:
                    refused.append(repr(e))
        t = threading.Thread(target=knock)
        t.start()
        b.signal(signal.SIGHUP)
        b.wait_line('generation 2 serves')
        assert b.get('/r')[::2] == (200, b'new')
        assert w.answers() == [(200, b'old')] * 10
        stop.set()
        t.join()
        assert not refused, refused
        settled(b, 2)
        until(lambda: not [p for p in old if alive(p)], 5, 'old workers have gone')


def test_b26c_sighup_with_a_broken_file():
    with Broker({'r.yaml': slow_route('old')}) as b:
        w = Waiting(b)
        before = b.workers()
        b.write('r.yaml', slow_route('new').replace('constant', 'konstant'))
        b.signal(signal.SIGHUP)
        b.wait_line(r'r\.yaml:6:\d+:.*konstant')
        b.wait_line('reload refused, the old generation goes on')
        assert w.answers() == [(200, b'old')] * 10
        assert b.get('/r')[2] == b'old'
        assert sorted(b.workers()) == sorted(before)


def test_what_waits_at_a_worker_that_goes():
    """Connections in the queue of a worker that the new generation has not: the others serve them, by routes that run already."""
    config = 'routes: [r.yaml]\nworkers: {http: {instances: %d}}\n'
    for _ in range(3):
        with Broker({'r.yaml': route('one'), 'hinny.yaml': config % 2}, routes=[], args=['-c', 'hinny.yaml']) as b:
            old = b.workers('http')
            assert len(old) == 2
            for pid in old:
                os.kill(pid, signal.SIGSTOP)
            waiting = [b.connect() for _ in range(40)]
            for s in waiting:
                s.sendall(b'GET /r HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
            b.write('hinny.yaml', config % 1)
            reload(b)
            answers = [read_all(s) for s in waiting]
            for pid in old:
                if alive(pid):
                    os.kill(pid, signal.SIGCONT)
            assert all(a.startswith(b'HTTP/1.1 200 ') and a.endswith(b'one') for a in answers), [a for a in answers if b' 200 ' not in a][:3]


def test_idle_connections_outlive_a_reload():
    """An idle kept-alive connection is kept until its next request, which is answered and then closes it."""
    with Broker({'r.yaml': route('one')}) as b:
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=10 * SLOW)
        con.request('GET', '/r')
        assert con.getresponse().read() == b'one'
        sock = con.sock
        b.write('r.yaml', route('two'))
        reload(b)
        con.request('GET', '/r')
        assert con.sock is sock
        ans = con.getresponse()
        assert (ans.status, ans.read(), ans.getheader('connection').lower()) == (200, b'one', 'close')
        con.close()
        assert b.get('/r')[2] == b'two'
        settled(b, 2)


def test_a_fourth_reload_waits():
    """At most 3 old generations live; a further reload waits until one has gone."""
    with Broker({'r.yaml': route('x', extra='        - delay: {constant: "600000"}\n')}, settings=['supervisor.drain_timeout=60s']) as b:
        held = []
        for n in range(1, 4):
            con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=20 * SLOW)
            con.request('GET', '/r')
            until(lambda: b.status()['generations'][-1]['in_flight'] == 1, 10)
            held.append(con)
            reload(b)
        status, out, err = b.hinny('reload')
        assert status == 0 and 'old generations' in out + err, (status, out, err)
        assert b.status()['generation'] == 4 and b.status()['reload_waits'] is True
        for con in held:
            con.close()
        b.signal(signal.SIGTERM)
        b.wait_line('ending')
        b.signal(signal.SIGTERM)
        assert b.proc.wait(10 * SLOW) == 0


if __name__ == '__main__':
    main(globals())
