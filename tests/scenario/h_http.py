#!/usr/bin/env python3
"""HTTP/1.1 at the broker's socket: what is refused, what is passed on, how it fails. Bytes go over raw sockets, since clients' libraries say nothing wrong."""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from broker import BUILD, Backend, Broker, main, read_all, until  # noqa: E402

ROUTES = """
- route:
    from:
      uri: platform-http:/hello
      steps:
        - setBody: {constant: hello}
- route:
    from:
      uri: platform-http:/echo
      steps:
        - setBody: {simple: '[${body}]'}
- route:
    from:
      uri: platform-http:/plain?populateBodyWithForm=false
      steps:
        - setBody: {simple: '[${body}]'}
- route:
    from:
      uri: platform-http:/status
      steps:
        - setHeader: {name: CamelHttpResponseCode, simple: '${header.code}'}
        - setBody: {constant: text}
- route:
    from:
      uri: platform-http:/slow
      steps:
        - delay: {constant: 700}
        - setBody: {constant: slow}
- route:
    from:
      uri: platform-http:/fail?muteException=false
      steps:
        - setBody: {jsonpath: '$.x'}
- route:
    from:
      uri: platform-http:/params/{id}
      steps:
        - setBody: {simple: '${header.id}|${header.q}|${header.CamelHttpUrl}'}
- route:
    from:
      uri: platform-http:/json?consumes=application/json&produces=application/json
      steps:
        - setBody: {constant: '{}'}
"""


def back(path, query=''):
    return """
- route:
    from:
      uri: platform-http:%s%s
      steps:
        - removeHeaders: {pattern: "CamelHttp*", excludePattern: CamelHttpMethod}
        - to: {uri: "http://127.0.0.1:{{back}}/b", parameters: {bridgeEndpoint: true, throwExceptionOnFailure: false%s}}
""" % (path, '', query)


def get(path, more=''):
    return ('GET %s HTTP/1.1\r\nHost: h\r\n%s\r\n' % (path, more)).encode()


def post(path, body, more=''):
    return ('POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%s\r\n' % (path, len(body), more)).encode() + body


def status_of(data):
    return int(data.split(b' ')[1]) if data.startswith(b'HTTP/1.1 ') else 0


REFUSED = [
    (400, b'GET /hello HTTP/1.1\r\n\r\n'),
    (400, b'GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
    (400, b'GET /hello HTTP/1.1\nHost: a\n\n'),
    (400, b'GET /hello HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n'),
    (501, b'FOO /hello HTTP/1.1\r\nHost: a\r\n\r\n'),
    (400, b'GET /hello HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n'),
    (400, b'GET /hello HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n'),
    (400, b'GET /hello HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n'),
    (400, b'G<>T /hello HTTP/1.1\r\nHost: a\r\n\r\n'),
    (400, b'GET hello HTTP/1.1\r\nHost: a\r\n\r\n'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n'),
    (400, b'POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n'),
    (400, b'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n'),
    (417, b'POST /echo HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nContent-Length: 1\r\n\r\n'),
    (431, b'GET /hello HTTP/1.1\r\nHost: a\r\n' + b'X: y\r\n' * 300 + b'\r\n'),
    (431, b'GET /hello HTTP/1.1\r\nHost: a\r\nX: ' + b'v' * 70000 + b'\r\n\r\n'),
    (414, b'GET /' + b'v' * 70000 + b' HTTP/1.1\r\nHost: a\r\n\r\n'),
    (414, b'GET /' + b'v' * 20000 + b' HTTP/1.1\r\nHost: a\r\n\r\n'),
    (501, b'CONNECT h:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
    (505, b'GET /hello HTTP/2.0\r\nHost: a\r\n\r\n'),
    (413, b'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n'),
]


def test_what_is_refused_ends_the_connection():
    with Broker({'r.yaml': ROUTES}) as b:
        for want, data in REFUSED:
            got = b.raw(data + get('/hello'))  # what follows is not looked at
            assert status_of(got) == want, (data[:80], want, got[:200])
            assert got.count(b'HTTP/1.1 ') == 1 and b'\r\nConnection: close\r\n' in got, (data[:80], got[:300])
            assert b.get('/hello')[2] == b'hello'


def test_pipelined_requests_are_answered_in_order():
    with Broker({'r.yaml': ROUTES}) as b:
        data = b''.join(post('/echo', b'%d' % i) if i % 3 else get('/slow') if i % 30 == 0 else get('/none') for i in range(90))
        got = b.raw(data + get('/hello', 'Connection: close\r\n'), timeout=30)
        bodies = [part.split(b'\r\n\r\n', 1)[1] for part in got.split(b'HTTP/1.1 ')[1:]]
        assert len(bodies) == 91 and bodies[-1] == b'hello', len(bodies)
        for i, body in enumerate(bodies[:-1]):
            want = b'[%d]' % i if i % 3 else b'slow' if i % 30 == 0 else b'<html><body><h1>Resource not found</h1></body></html>'
            assert body == want, (i, body)


def test_a_half_closed_client_gets_its_answer():
    with Broker({'r.yaml': ROUTES}) as b, b.connect() as s:
        s.sendall(get('/slow'))
        s.shutdown(socket.SHUT_WR)
        assert read_all(s).endswith(b'slow')


def test_answers():
    with Broker({'r.yaml': ROUTES}) as b:
        status, headers, body = b.request('HEAD', '/hello')
        assert status == 200 and headers['content-length'] == '5' and body == b''
        assert b.request('HEAD', '/none')[0] == 404
        status, headers, body = b.get('/status?code=999')
        assert status == 999 and body == b'text'
        for wrong in ('99', '100', '1000', 'abc'):  # no status, or an interim one
            assert b.get('/status?code=' + wrong)[0] == 500
        for bodiless in ('204', '304'):
            got = b.raw(get('/status?code=' + bodiless) + get('/hello', 'Connection: close\r\n'))
            assert got.count(b'HTTP/1.1 ') == 2 and got.endswith(b'\r\n\r\nhello') and b'text' not in got, got
        status, headers, body = b.post('/fail', b'{}', {'Content-Type': 'application/json'})
        assert status == 500 and headers['content-type'] == 'text/plain; charset=utf-8' and b'Exception' in body, body
        status, headers, body = b.request('PUT', '/json', b'{}', {'Content-Type': 'text/plain'})
        assert status == 415
        assert b.request('PUT', '/json', b'{}', {'Content-Type': 'application/json', 'Accept': 'text/html'})[0] == 406
        assert b.request('PUT', '/json', b'{}', {'Content-Type': 'Application/JSON; x=y', 'Accept': 'application/*'})[0] == 200


def test_what_a_client_sends_cannot_forge():
    with Broker({'r.yaml': ROUTES}) as b:
        # Line ends in a parameter do not make a header of their own.
        got = b.raw(get('/hello?x=a%0d%0aSet-Cookie:%20evil=1&bad%0aname=2&bad%20name=3', 'Connection: close\r\n'))
        assert b'\r\nSet-Cookie' not in got and b'\r\nx: a  Set-Cookie: evil=1\r\n' in got and b'name' not in got, got
        # Headers that steer the broker do not come in, neither as header nor as parameter.
        got = b.raw(get('/hello?CamelHttpResponseCode=418&camelx=1', 'CamelHttpResponseCode: 418\r\nConnection: close\r\n'))
        assert status_of(got) == 200 and b'amelx' not in got, got
        status, headers, body = b.get('/params/a%2Fb?q=1&q=2')
        assert body == b'a/b|[1, 2]|http://127.0.0.1:%d/params/a%%2Fb?q=1&q=2' % b.port, body
        got = b.raw(b'GET http://other.example/params/1 HTTP/1.1\r\nHost: ignored\r\nConnection: close\r\n\r\n')
        assert got.endswith(b'1||http://other.example/params/1'), got


def test_forms():
    form = {'Content-Type': 'application/x-www-form-urlencoded'}
    with Broker({'r.yaml': ROUTES}) as b:
        status, headers, body = b.post('/echo', b'f=1&g=a+b%2Bc&f=2', form)
        assert body == b'[{f=[1, 2], g=a b+c}]' and headers['g'] == 'a b+c', (body, headers)
        status, headers, body = b.post('/plain', b'f=1&g=2', form)
        assert body == b'[f=1&g=2]' and 'f' not in headers, (body, headers)


def test_forms_go_through_a_proxy_as_they_came():
    seen = []

    def handler(head, body, s):
        seen.append((head, body))
        return b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    with Backend(handler) as be, Broker({'r.yaml': back('/p')}, properties=['back=%d' % be.port]) as b:
        text = b'f=1&g=a+b&h=%7e'
        assert b.post('/p', text, {'Content-Type': 'application/x-www-form-urlencoded'})[2] == b'ok'
        assert seen[0][1] == text, seen


def test_what_steers_a_request_cannot_break_its_lines():
    seen = []

    def handler(head, body, s):
        seen.append(head)
        return b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    routes = ''.join("""
- route:
    from:
      uri: platform-http:/%s
      steps:
        - setHeader: {name: Camel%s, simple: '${body}'}
        - removeHeaders: {pattern: "CamelHttp*", excludePattern: "Camel%s"}
        - setBody: {constant: x}
        - to: "http://127.0.0.1:{{back}}/b?throwExceptionOnFailure=false"
""" % (name, name, name) for name in ('HttpQuery', 'HttpPath', 'HttpUri', 'HttpMethod'))
    evil = b'a b HTTP/1.1\r\nX-Evil: 1\r\n\r\nGET /other'
    with Backend(handler) as be, Broker({'r.yaml': routes}, properties=['back=%d' % be.port]) as b:
        for name, want in (('HttpQuery', 200), ('HttpPath', 200), ('HttpUri', 500), ('HttpMethod', 500)):
            seen.clear()
            assert b.post('/' + name, evil, {'Content-Type': 'text/plain'})[0] == want, name
            for head in seen:
                assert len(seen) == 1 and b'X-Evil: 1\r\n' not in head and head.split(b'\r\n')[0].count(b' ') == 2, head
        assert b.post('/HttpUri', b'http://127.0.0.1:%d/x\r\nX-Evil: 1' % be.port, {'Content-Type': 'text/plain'})[0] == 200
        assert b'\r\nX-Evil' not in seen[-1], seen[-1]


def test_head_through_a_proxy():
    def handler(head, body, s):
        return b'HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nX-M: %s\r\n\r\n' % head.split(b' ')[0]
    with Backend(handler) as be, Broker({'r.yaml': back('/p')}, properties=['back=%d' % be.port]) as b:
        for _ in range(3):
            status, headers, body = b.request('HEAD', '/p')
            assert status == 200 and headers['content-length'] == '12345' and headers['x-m'] == 'HEAD' and body == b'', headers


def test_redirects():
    seen = []

    def handler(head, body, s):
        method, path = head.split(b' ')[:2]
        seen.append((method, path, body, b'uthorization: ' in head))
        answers = {
            b'/rel': b'302 x\r\nLocation: next?a=b#f', b'/abs': b'307 x\r\nLocation: http://127.0.0.1:%d/next' % be.port,
            b'/dir/see': b'303 x\r\nLocation: /next', b'/loop': b'301 x\r\nLocation: /loop', b'/none': b'302 x',
            b'/host': b'307 x\r\nLocation: http://localhost:%d/next' % be.port, b'/tls': b'302 x\r\nLocation: https://h/',
        }
        if path == b'/big':
            return b'HTTP/1.1 302 x\r\nLocation: next\r\nContent-Length: 300000\r\n\r\n' + b'z' * 300000
        if path in answers:
            return b'HTTP/1.1 ' + answers[path] + b'\r\nContent-Length: 4\r\n\r\ngone'
        return b'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere'
    route = """
- route:
    from:
      uri: platform-http:/%s
      steps:
        - removeHeaders: {pattern: "*", excludePattern: CamelHttpMethod}
        - setHeader: {name: Authorization, constant: secret}
        - to: {uri: "http://127.0.0.1:{{back}}/%s", parameters: {throwExceptionOnFailure: false, followRedirects: %s}}
        - setBody: {simple: '${body}'}
"""
    routes = ''.join(route % (p, p, 'true') for p in ('rel', 'abs', 'dir/see', 'loop', 'none', 'host', 'tls', 'big')) + route % ('not', 'rel', 'false')
    with Backend(handler) as be, Broker({'r.yaml': routes}, properties=['back=%d' % be.port]) as b:
        assert b.get('/rel')[2] == b'here' and seen[-1][:2] == (b'GET', b'/next?a=b'), seen
        assert b.post('/rel', b'x')[2] == b'here' and seen[-1][:3] == (b'GET', b'/next?a=b', b''), seen
        assert b.request('PUT', '/rel', b'x')[2] == b'here' and seen[-1][:3] == (b'PUT', b'/next?a=b', b'x'), seen
        assert b.post('/abs', b'x')[2] == b'here' and seen[-1] == (b'POST', b'/next', b'x', True), seen
        assert b.post('/dir/see', b'x')[2] == b'here' and seen[-1][:3] == (b'GET', b'/next', b''), seen
        assert b.post('/host', b'x')[2] == b'here' and seen[-1] == (b'POST', b'/next', b'x', False), seen
        assert b.get('/big')[2] == b'here' and seen[-1][:2] == (b'GET', b'/next'), seen
        seen.clear()
        assert b.get('/loop')[0] == 301 and len(seen) == 51, len(seen)
        assert b.get('/none')[0] == 302
        assert b.get('/tls')[0] == 500
        status, headers, body = b.get('/not')
        assert status == 302 and headers['location'] == 'next?a=b#f' and body == b'gone', (status, headers)


def test_slow_clients_are_told():
    settings = ['http.request_head_timeout=300ms', 'http.request_body_timeout=300ms', 'http.idle_timeout=300ms']
    with Broker({'r.yaml': ROUTES}, settings=settings) as b:
        assert status_of(b.raw(b'GET /hello HTTP/1.1\r\nHo')) == 408
        assert status_of(b.raw(b'POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')) == 408
        assert status_of(b.raw(b'POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc')) == 408
        assert status_of(b.raw(b'POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')) == 408
        assert b.raw(b'') == b''
        began = time.monotonic()
        with b.connect() as s:  # a byte now and then is not enough
            try:
                for c in get('/hello'):
                    s.sendall(bytes([c]))
                    time.sleep(0.05)
                    if time.monotonic() - began > 3:
                        break
            except OSError:
                pass
            assert time.monotonic() - began < 3


def test_beyond_max_inflight():
    with Broker({'r.yaml': ROUTES}, settings=['http.max_inflight=3', 'workers.http.instances=1']) as b:
        held = [b.connect() for _ in range(3)]
        for s in held:
            s.sendall(get('/slow'))
        until(lambda: b.get('/hello')[0] == 503, 5, 'a refusal')
        status, headers, body = b.get('/hello')
        assert status == 503 and headers['retry-after'] == '1', headers
        for s in held:
            assert read_all(s, b'slow').endswith(b'slow')
            s.close()
        assert b.get('/hello')[0] == 200


def test_a_broken_answer_is_cut():
    """A stream that ends too early must not look whole, whatever the framing."""
    answers = {
        '/length': b'HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n' + b'x' * 100000,
        '/chunked': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n' + b'x' * 100000 + b'\r\n',
        '/wrong': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n' + b'x' * 100000 + b'\r\nzz\r\n',
    }

    def handler(head, body, s):
        s.sendall(answers['/' + head.split(b' ')[1].decode().rsplit('/', 1)[1]])
        return None
    routes = back('/length').replace('/b"', '/b/length"') + back('/chunked').replace('/b"', '/b/chunked"') + \
        back('/wrong').replace('/b"', '/b/wrong"')
    with Backend(handler) as be, Broker({'r.yaml': routes}, properties=['back=%d' % be.port]) as b:
        for path in answers:
            got = b.raw(get(path))
            head, body = got.split(b'\r\n\r\n', 1)
            assert status_of(got) == 200 and len(body) < 200000, (path, len(body))
            assert (b'Content-Length: 500000' in head) == (path == '/length') and not body.endswith(b'0\r\n\r\n'), (path, head)
            got = b.raw(b'GET %s HTTP/1.0\r\n\r\n' % path.encode())
            assert status_of(got) in (0, 200)


def test_back_ends_that_fail():
    kinds = {
        'close': (502, lambda s: None),
        'garbage': (502, lambda s: b'what?\r\n\r\n'),
        'two-lengths': (502, lambda s: b'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx'),
        'half': (502, lambda s: b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
        'silence': (504, lambda s: time.sleep(2)),
    }

    def handler(head, body, s):
        data = kinds[head.split(b' ')[1].decode().rsplit('/', 1)[1]][1](s)
        if data:
            s.sendall(data)
        return None
    routes = ''.join(back('/' + k, ', responseTimeout: 500').replace('/b"', '/b/%s"' % k) for k in kinds)
    routes += back('/refused').replace('{{back}}', '1')
    with Backend(handler) as be, Broker({'r.yaml': routes}, properties=['back=%d' % be.port]) as b:
        for kind, (want, _) in kinds.items():
            for method in ('GET', 'POST'):
                status, headers, body = b.request(method, '/' + kind, b'x' if method == 'POST' else None)
                assert status == want and body == b'', (kind, method, status, body)
        assert b.get('/refused')[0] == 502


def test_more_connections_than_a_shell_allows_files():
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        b = Broker({'r.yaml': ROUTES}, settings=['workers.http.instances=1'])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with b:
        held = [b.connect() for _ in range(200)]
        for s in held:
            s.sendall(get('/hello'))
        assert all(read_all(s, b'hello').endswith(b'hello') for s in held)


def test_other_addresses():
    """A unix socket and IPv6, served and called."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(('::1', 0))
            port = probe.getsockname()[1]
    except OSError:
        port = 0
    routes = ROUTES + """
- route:
    from:
      uri: platform-http:/six
      steps:
        - removeHeaders: {pattern: "*"}
        - to: "http://[::1]:%d/hello"
""" % port
    listen = '["unix:h.sock"%s]' % (', "[::1]:%d"' % port if port else '')
    with Broker({'r.yaml': routes, 'hinny.yaml': 'routes: [r.yaml]\nhttp:\n  listen: %s\n' % listen}, port=port,
                command=[os.path.join(BUILD, 'hinnyd'), '-c', 'hinny.yaml']) as b:
        for path in ['/hello'] + (['/six'] if port else []):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(10)
                s.connect(os.path.join(b.folder, 'h.sock'))
                s.sendall(post(path, b'x') + get(path, 'Connection: close\r\n'))
                got = read_all(s)
                assert got.count(b'\r\n\r\nhello') == 2, got
        if port:
            with socket.create_connection(('::1', port), 10) as s:
                s.sendall(get('/six', 'Connection: close\r\n'))
                assert read_all(s).endswith(b'\r\n\r\nhello')


def test_unknown_options_of_http_do_not_leave_as_query():
    for option in ('proxyHost=x', 'sslContextParameters=#x', 'httpClient.soTimeout=5', 'cookieStore=#x'):
        b = Broker({'r.yaml': '- route:\n    from:\n      uri: platform-http:/x\n      steps:\n        - to: "http://h/p?%s"\n' % option}, wait=False)
        try:
            assert b.proc.wait(20) == 1
            b.reader.join(5)
            assert option.split('=')[0] in b.log() and 'r.yaml:' in b.log(), b.log()
        finally:
            b.close()


if __name__ == '__main__':
    main(globals())
