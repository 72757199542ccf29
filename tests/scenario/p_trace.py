#!/usr/bin/env python3
"""hinny trace: exchanges step by step, sampled, bounded; nobody who looks on holds anything up."""
import json
import os
import socket
import subprocess
import sys
import threading
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, Broker, env, main, until

TEXT = {'Content-Type': 'text/plain'}
ROUTES = '''- route:
    id: web
    from:
      uri: platform-http:/web
      steps:
        - setHeader: {id: head, name: h, constant: v}
        - to: {id: call, uri: "direct:sub"}
        - split:
            id: parts
            tokenize: ","
            steps:
              - log: {id: item, message: "item ${body}"}
        - filter: {id: bad, simple: "${body} contains 'bad'", steps: [{throwException: {id: boom, exceptionType: java.io.IOException, message: no good}}]}
- route:
    id: sub
    from:
      uri: direct:sub
      steps:
        - to: {id: kept, uri: "mock:kept"}
- route:
    id: ticks
    from:
      uri: timer:t?period=20
      steps:
        - setBody: {id: tick, constant: t}
'''


class Trace:
    """A hinny trace that runs; its lines as JSON."""

    def __init__(self, b, *args):
        self.lines = []
        self.p = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'trace', '--json', '--dir', b.rundir] + list(args), env=env(), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.t = threading.Thread(target=self.read)
        self.t.start()

    def read(self):
        for line in self.p.stdout:
            self.lines.append(json.loads(line))

    def end(self):
        self.p.terminate()
        self.p.wait(10 * SLOW)
        self.t.join(10)
        self.p.stdout.close()
        self.p.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.end()


def test_steps_in_their_order():
    with Broker({'r.yaml': ROUTES}) as b:
        with Trace(b, 'web', '--bodies') as tr:
            until(lambda: b.post('/web', b'a,b', TEXT)[0] == 200 and any(x['event'] == 'end' and 'parent' not in x for x in tr.lines), 10)
            first = next(x['exchange'] for x in tr.lines if x['event'] == 'begin')
            own = [x for x in tr.lines if x['exchange'] == first]
            assert [x.get('step', x['event']) for x in own] == ['begin', 'head', 'call', 'kept', 'parts', 'bad', 'end'], own
            assert [x['route'] for x in own] == ['web', 'web', 'web', 'sub', 'web', 'web', 'web']
            kept = own[3]
            assert (kept['kind'], kept['endpoint'], kept['owner'], kept['file'], kept['line'], kept['body'], kept['headers']['h']) == (
                'to', 'mock://kept', 'flow', 'r.yaml', 19, 'a,b', 'v'), kept
            assert own[0]['from'] == 'platform-http:///web' or 'platform-http' in own[0]['from']
            items = [x['body'] for x in tr.lines if x.get('parent') == first and x['event'] == 'step']
            assert items == ['a', 'b'], tr.lines
            assert all(x['us'] >= 0 and x['worker'].startswith('http.') for x in own)
            del tr.lines[:]
            assert b.post('/web', b'bad', TEXT)[0] == 500
            end = until(lambda: [x for x in tr.lines if x['event'] == 'end' and 'exception' in x], 10)[0]
            assert (end['exception'], end['error']) == ('java.io.IOException', 'no good'), end


def test_text_and_bounds():
    with Broker({'r.yaml': ROUTES}) as b:
        status, out, err = b.hinny('trace', 'ticks', '--count', '3', '--bodies')
        assert status == 0 and not err, err
        lines = out.splitlines()
        assert sum(' from ' in x for x in lines) == 3 and sum('tick  r.yaml:25' in x for x in lines) == 3 and sum('ticks done' in x for x in lines) == 3, out
        status, out, _ = b.hinny('trace', 'ticks', '--every', '4', '--count', '2', '--json')
        assert status == 0 and sum(json.loads(x)['event'] == 'begin' for x in out.splitlines()) == 2, out
        status, out, err = b.hinny('trace', 'nobody')
        assert status == 1 and 'there is no route "nobody"' in err
        assert b.hinny('trace', '--every', '0')[0] == 2 and b.hinny('trace', '--count', 'x')[0] == 2


def test_nobody_is_held_up():
    with Broker({'r.yaml': ROUTES}) as b:
        sockets = []
        for _ in range(8):  # as many as may look on, and none of them reads
            s = socket.socket(socket.AF_UNIX)
            s.connect(os.path.join(b.rundir, 'admin.sock'))
            s.sendall(b'{"command":"trace","body":true}\n')
            sockets.append(s)
        body = b'x' * 900
        for _ in range(300):
            assert b.post('/web', body, TEXT)[0] == 200

        def refused():
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(5 * SLOW)
                s.connect(os.path.join(b.rundir, 'admin.sock'))
                s.sendall(b'{"command":"trace","route":"sub"}\n')
                return b'refused' in s.recv(1000)
        until(refused, 10)
        # whoever reads again is told how much was lost
        data = b''
        sockets[0].settimeout(10 * SLOW)
        while b'"dropped":' not in data:
            more = sockets[0].recv(1 << 16)
            assert more
            data = data[-100:] + more
            if len(more) < 1000:
                b.post('/web', b'y', TEXT)
        for s in sockets:
            s.close()
        with Trace(b, 'ticks') as tr:  # there is room again
            until(lambda: any(x['event'] == 'end' for x in tr.lines), 10)
        assert b.stop() == 0


def test_a_reload_ends_it():
    with Broker({'r.yaml': ROUTES}) as b:
        with Trace(b) as tr:
            until(lambda: tr.lines, 10)
            b.hinny('reload', '--wait', check=True)
            assert tr.p.wait(20 * SLOW) == 0
            assert 'trace again' in tr.p.stderr.read()


if __name__ == '__main__':
    main(globals())
