#!/usr/bin/env python3
"""HTTP faults and questions that people reported of integration products, with what is right on the wire."""
import os
import re
import sys
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Backend, Broker, SLOW, main, ok, setting, until

CLEAN = '      - removeHeaders: {pattern: "CamelHttp*", excludePattern: "CamelHttpMethod"}\n'


def route(path, steps, query=''):
    return '- from:\n    uri: "platform-http:%s%s"\n    steps:\n%s' % (path, query, steps)


def proxy(path, query='', options='bridgeEndpoint=true&throwExceptionOnFailure=false'):
    return route(path, CLEAN + '      - to: "http://127.0.0.1:{{back}}%s?%s"\n' % (path, options), query)


class Answers:
    """Whole answers read one after the other from a connection."""

    def __init__(self, s):
        self.s, self.data = s, b''

    def more(self):
        part = self.s.recv(65536)
        assert part, 'the connection ended; so far: %r' % self.data
        self.data += part

    def next(self, body=True):
        """(status, head, body); `body`: False when the answer has none by its nature."""
        while b'\r\n\r\n' not in self.data:
            self.more()
        head, self.data = self.data.split(b'\r\n\r\n', 1)
        status = int(head.split()[1])
        if not body or status in (204, 304) or status < 200:
            return status, head, b''
        length = re.search(rb'(?im)^content-length:\s*(\d+)\r?$', head)
        if length is not None:
            while len(self.data) < int(length.group(1)):
                self.more()
            out, self.data = self.data[:int(length.group(1))], self.data[int(length.group(1)):]
            return status, head, out
        assert re.search(rb'(?im)^transfer-encoding:\s*chunked', head), head
        out = b''
        while True:
            while b'\r\n' not in self.data:
                self.more()
            size, self.data = self.data.split(b'\r\n', 1)
            n = int(size, 16)
            while len(self.data) < n + 2:
                self.more()
            out, self.data = out + self.data[:n], self.data[n + 2:]
            if n == 0:
                return status, head, out


def has(head, name):
    return re.search(rb'(?im)^' + name + rb'\s*:', head) is not None


# ---- B07

def test_b07_204_and_304_have_no_body_and_no_framing():
    routes = (route('/a', '      - setBody: {simple: "${null}"}\n')
              + route('/b', '      - setBody: {constant: x}\n      - setHeader: {name: CamelHttpResponseCode, constant: 204}\n')
              + proxy('/c')
              + route('/d', '      - setBody: {simple: "${null}"}\n      - setHeader: {name: CamelHttpResponseCode, constant: 200}\n')
              + route('/plain', '      - setBody: {constant: plain}\n'))

    def handler(head, body, s):
        return b'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\nETag: "1"\r\n\r\n'
    with Backend(handler) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        for path, wanted in (('/a', 204), ('/b', 204), ('/c', 304), ('/d', 200)):
            with b.connect() as s:
                began = time.monotonic()
                s.sendall(b'GET %s HTTP/1.1\r\nHost: x\r\n\r\nGET /plain HTTP/1.1\r\nHost: x\r\n\r\n' % path.encode())
                a = Answers(s)
                status, head, body = a.next()
                assert (status, body) == (wanted, b''), (path, head, body)
                if wanted != 200:
                    assert not has(head, b'transfer-encoding') and not (wanted == 204 and has(head, b'content-length')), head
                assert a.next()[::2] == (200, b'plain'), path
                assert time.monotonic() - began < 2 * SLOW, path


# ---- B08

def test_b08_headers_that_belong_to_one_hop():
    def handler(head, body, s):
        s.sendall(ok(b'hi', b'Connection: close, X-Back-Hop\r\nX-Back-Hop: 1\r\nX-Back-Ok: 2\r\n'))
        return None
    with Backend(handler) as back, Broker({'r.yaml': proxy('/b08')}, properties=['back=%d' % back.port]) as b:
        with b.connect() as s:
            a = Answers(s)
            for _ in range(2):  # its own connection stays open
                s.sendall(b'GET /b08 HTTP/1.1\r\nHost: front.example\r\nConnection: keep-alive, X-Trace-Hop\r\nX-Trace-Hop: 1\r\n'
                          b'Keep-Alive: timeout=5\r\nTE: trailers\r\nX-Ok: 2\r\n\r\n')
                status, head, body = a.next()
                assert (status, body) == (200, b'hi')
                assert has(head, b'x-back-ok') and not has(head, b'x-back-hop'), head
                assert not re.search(rb'(?im)^connection:.*close', head), head
        assert len(back.requests) == 2
        for head, _ in back.requests:
            assert has(head, b'x-ok') and not has(head, b'x-trace-hop') and not has(head, b'keep-alive') and not has(head, b'te'), head
            assert b'front.example' not in head and re.search(rb'(?im)^host: 127\.0\.0\.1:%d\r?$' % back.port, head), head
            assert not re.search(rb'(?im)^connection:.*trace-hop', head), head


# ---- B09

def test_b09_content_length_after_the_body_changed():
    steps = ('      - setBody: {constant: "%s"}\n' + CLEAN + '      - to: "http://127.0.0.1:{{back}}/b09?bridgeEndpoint=true&httpMethod=POST"\n'
             + '      - setBody: {constant: "%s"}\n')
    routes = route('/grow', steps % ('longer body than before', 'é' * 10)) + route('/shrink', steps % ('1', 'é'))
    with Backend(lambda head, body, s: ok(b'12345')) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        for path, sent, got, answered in (('/grow', b'short', b'longer body than before', 'é' * 10), ('/shrink', b'x' * 100000, b'1', 'é')):
            with b.connect() as s:
                s.sendall(b'POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n' % (path.encode(), len(sent)) + sent)
                status, head, body = Answers(s).next()
            assert (status, body) == (200, answered.encode()), (path, head, body)
            assert len(re.findall(rb'(?im)^content-length:', head)) + len(re.findall(rb'(?im)^transfer-encoding:', head)) == 1, head
            head, body = back.requests[-1]
            assert body == got, (path, body)
            assert re.findall(rb'(?im)^content-length:\s*(\d+)', head) in ([b'%d' % len(got)], []), head
            assert has(head, b'content-length') != has(head, b'transfer-encoding'), head


# ---- B10

EXPECT = b'POST %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n'


def test_b10_expect_100_continue():
    routes = route('/b10', '      - setBody: {simple: "got ${body}"}\n') + proxy('/proxy')
    with Backend(lambda head, body, s: ok(b'back ' + body)) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        for path, wanted in ((b'/b10', b'got abc'), (b'/proxy', b'back abc')):
            with b.connect() as s:
                a = Answers(s)
                s.sendall(EXPECT % path)
                s.settimeout(1 * SLOW)
                status, head, _ = a.next()
                s.settimeout(10 * SLOW)
                assert status == 100 and not has(head, b'content-length') and not has(head, b'transfer-encoding') and not has(head, b'connection'), head
                s.sendall(b'abc')
                assert a.next()[::2] == (200, wanted)
                # exactly one final response: the next answer is that of the next request
                s.sendall(b'POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc' % path)
                assert a.next()[::2] == (200, wanted)
            with b.connect() as s:  # a client that does not wait
                a = Answers(s)
                s.sendall(EXPECT % path + b'abc')
                status, _, body = a.next()
                if status == 100:
                    status, _, body = a.next()
                assert (status, body) == (200, wanted)
        with b.connect() as s:  # no route
            s.sendall(EXPECT % b'/none')
            a = Answers(s)
            status = a.next()[0]
            if status == 100:
                s.sendall(b'abc')
                status = a.next()[0]
            assert status == 404
        answer = b.raw((EXPECT % b'/b10').replace(b'HTTP/1.1', b'HTTP/1.0') + b'abc')
        assert b'100 Continue' not in answer and b' 200 ' in answer.split(b'\r\n')[0] and answer.endswith(b'got abc'), answer


# ---- B11

def test_b11_the_back_end_closed_the_idle_connection():
    rounds = setting('STALE_ROUNDS', 10, 50)
    for method in ('GET', 'POST'):
        closed = []

        def handler(head, body, s):
            s.sendall(ok(b'hi'))
            s.close()
            closed.append(1)
            return None
        with Backend(handler) as back, Broker({'r.yaml': proxy('/b11')}, properties=['back=%d' % back.port], settings=['workers.http.instances=1']) as b:
            for n in range(rounds):
                assert b.request(method, '/b11', b'body' if method == 'POST' else None)[::2] == (200, b'hi'), n
                until(lambda: len(closed) == n + 1, 5)
                time.sleep(0.1 if n % 2 else 0)  # the broker has seen it, or not yet
            assert len(back.requests) == rounds  # each exactly once


def test_b11_keep_alive_timeout_of_the_back_end():
    with Backend(lambda head, body, s: ok(b'hi', b'Keep-Alive: timeout=1\r\n')) as back:
        with Broker({'r.yaml': proxy('/b11')}, properties=['back=%d' % back.port], settings=['workers.http.instances=1']) as b:
            ports = set()
            handler = back.handler
            back.handler = lambda head, body, s: ports.add(s.getpeername()[1]) or handler(head, body, s)
            assert b.post('/b11', b'x')[0] == 200
            time.sleep(1.3)
            assert b.post('/b11', b'x')[0] == 200
            assert len(ports) == 2, 'a connection that was idle for longer than the back end keeps it was used'


def test_b11_half_an_answer_is_an_error():
    def handler(head, body, s):
        if b'/half' in head:
            s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n' + b'half' * (100000 if b'stream' in head else 1))
        return None  # or nothing at all, and closed
    routes = route('/half', CLEAN + '      - to: "http://127.0.0.1:{{back}}/half?bridgeEndpoint=true"\n      - setBody: {simple: "${body}"}\n') + proxy('/none') + proxy('/halfstream')
    with Backend(handler) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        assert b.post('/half', b'x')[0] in (500, 502)
        n = len(back.requests)
        assert b.post('/none', b'x')[0] in (500, 502)
        assert len(back.requests) == n + 1, 'a POST that may have been acted upon was sent again'
        # A streamed answer that ended half way is cut: it must not look whole.
        answer = b.raw(b'GET /halfstream HTTP/1.1\r\nHost: x\r\n\r\n')
        head, _, body = answer.partition(b'\r\n\r\n')
        assert head.startswith(b'HTTP/1.1 200') and 0 < len(body) < 1000000 and not body.endswith(b'0\r\n\r\n'), head


# ---- B12

def test_b12_query_and_path_go_on_as_they_came():
    routes = (proxy('/b12', '?matchOnUriPrefix=true')
              + route('/headers', '      - setBody: {simple: "${header.u}|${header.e}|${header.plus}"}\n')
              + route('/query', CLEAN + '      - setHeader: {name: CamelHttpQuery, constant: "q=a b&z=%2F%25"}\n      - to: "http://127.0.0.1:{{back}}/q"\n'))
    query = '?u=a%2Fb&e=%E2%82%AC&plus=a+b'
    with Backend(lambda head, body, s: ok(b'hi')) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        assert b.get('/headers' + query)[2].decode() == 'a/b|€|a b'
        assert b.get('/query')[0] == 200
        assert back.requests[-1][0].split(b'\r\n')[0].split()[1] == b'/q?q=a%20b&z=%2F%25'


def test_b12_through_a_proxy():
    # Without removeHeaders: path and query of the request are what the bridge goes on with.
    routes = '- from:\n    uri: "platform-http:/b12?matchOnUriPrefix=true"\n    steps:\n      - to: "http://127.0.0.1:{{back}}?bridgeEndpoint=true"\n'
    path = '/b12/x%2Fy/z%20w?u=a%2Fb&e=%E2%82%AC&plus=a+b'
    with Backend(lambda head, body, s: ok(b'hi')) as back, Broker({'r.yaml': routes}, properties=['back=%d' % back.port]) as b:
        assert b.get(path)[0] == 200
        line = back.requests[-1][0].split(b'\r\n')[0].split()[1]
        assert line.endswith(path[4:].encode()), line


if __name__ == '__main__':
    main(globals())
