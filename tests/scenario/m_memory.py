#!/usr/bin/env python3
"""Memory and start: the budgets of the design, streams that are never held, large documents, the time from spawn to the ready line."""
import http.client
import os
import re
import signal
import socket
import sys
import threading
import time
import zlib
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
import flows
from broker import BUILD, Broker, Load, SANITIZED, SLOW, SOAK, Skip, env, free_port, main, setting, until

STREAM = setting('STREAM_MIB', 256, 1024)  # MiB
DOCUMENT = setting('DOCUMENT_MIB', 10, 10) << 20
BUSY_MACHINE = [] if SOAK else ['xform.time_limit=60s', 'supervisor.call_timeout=60s']  # a transformation of 10 MB takes one second of an idle one
ANSWER = '- from:\n    uri: platform-http:/r\n    steps:\n      - setBody: {constant: "hello"}\n'
PROXY = ('- from:\n    uri: platform-http:/big\n    steps:\n      - removeHeaders: {pattern: "CamelHttp*", excludePattern: "CamelHttpMethod"}\n'
         '      - to: "http://127.0.0.1:{{back}}/big?bridgeEndpoint=true"\n')


def no_sanitizer():
    if SANITIZED:
        raise Skip('a sanitizer build has its own memory and pace')


# ---- budgets

def test_budget_of_an_http_route():
    no_sanitizer()
    with Broker({'r.yaml': ANSWER}, settings=['workers.http.instances=2']) as b:
        at_start = b.pss_kib()
        Load(b.port, '/r', connections=64, requests=5000).all_ok()
        print('an HTTP route: %.1f MiB at the start, %.1f MiB after 5000 requests' % (at_start / 1024, b.pss_kib() / 1024))
        assert at_start < 8 * 1024 and b.pss_kib() < 8 * 1024


def test_budget_with_xform():
    no_sanitizer()
    with flows.broker(settings=['workers.http.instances=2', 'workers.xform.instances=2']) as b:
        at_start = b.pss_kib()
        for flow in flows.FLOWS:
            flows.load(b, flow, connections=64, requests=2000).all_ok()
        print('http and xform: %.1f MiB at the start, %.1f MiB after 6000 requests' % (at_start / 1024, b.pss_kib() / 1024))
        assert at_start < 16 * 1024 and b.pss_kib() < 16 * 1024


# ---- start

def start_once(folder, port):
    """Milliseconds from spawn to the ready line, as seen from here and as the line says."""
    argv = [os.path.join(BUILD, 'hinny'), 'run', '--no-watch', '--port', str(port), '--dir', os.path.join(folder, 'start'), os.path.join(folder, 'r.yaml')]
    r, w = os.pipe()
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env(), file_actions=[(os.POSIX_SPAWN_DUP2, w, 2), (os.POSIX_SPAWN_CLOSE, r)])
    os.close(w)
    with os.fdopen(r, 'rb', buffering=0) as f:
        text = b''
        while b'ready in' not in text or not text.endswith(b'\n'):
            part = f.read(4096)
            assert part, text
            text += part
        took = (time.perf_counter() - began) * 1000
        os.kill(pid, signal.SIGTERM)
        while f.read(4096):
            pass
    os.waitpid(pid, 0)
    return took, int(re.search(rb'ready in (\d+) ms', text).group(1))


def test_spawn_to_ready():
    no_sanitizer()
    with Broker({'r.yaml': ANSWER}) as b:
        times = sorted(start_once(b.folder, free_port()) for _ in range(20))
        spawn, said = times[10][0], sorted(t[1] for t in times)[10]
        print('spawn to the ready line: median %.1f ms, least %.1f ms; the line says %d ms' % (spawn, times[0][0], said))
        # This machine may be busy: the fastest of 20 shows what the program needs.
        assert (spawn if SOAK else times[0][0]) <= (5 if SOAK else 10), times


# ---- streams

class Watch(threading.Thread):
    """The peak of a broker's memory."""

    def __init__(self, b):
        super().__init__(daemon=True)
        self.b, self.peak, self.ended = b, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.02):
            self.peak = max(self.peak, self.b.pss_kib())

    def end(self):
        self.ended.set()
        self.join()
        return self.peak


def block(n):
    return zlib.crc32(b'%d' % n).to_bytes(4, 'big') * (1 << 18)


class Stream:
    """A back end: GET is answered with STREAM MiB, a request's body with its length and checksum."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        try:
            self.answer(s)
        except OSError:
            pass  # the broker has no use for the rest

    def answer(self, s):
        with s, s.makefile('rb') as f:
            head = {}
            method = f.readline().split()[0]
            for line in iter(f.readline, b'\r\n'):
                k, v = line.split(b':', 1)
                head[k.lower()] = v.strip()
            if method == b'GET':
                s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % (STREAM << 20))
                for i in range(STREAM):
                    s.sendall(block(i))
                return
            n = crc = 0
            for part in self.chunks(f) if b'chunked' in head.get(b'transfer-encoding', b'') else self.plain(f, int(head[b'content-length'])):
                n, crc = n + len(part), zlib.crc32(part, crc)
            text = b'%d %d' % (n, crc)
            s.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' % len(text) + text)

    @staticmethod
    def plain(f, left):
        while left > 0:
            part = f.read1(min(left, 1 << 20))
            left -= len(part)
            yield part

    @staticmethod
    def chunks(f):
        while True:
            size = int(f.readline(), 16)
            part = f.read(size)
            f.readline()
            if size == 0:
                return
            yield part

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.listener.close()


def checksum():
    crc = 0
    for i in range(STREAM):
        crc = zlib.crc32(block(i), crc)
    return crc


def under(watch, b, what):
    peak = watch.end()
    print('%s: %d MiB through, peak %.1f MiB (sum of PSS)' % (what, STREAM, peak / 1024))
    if not SANITIZED:
        assert peak < 20 * 1024, peak
    assert b.status()['kinds']['http']['deaths'] == 0


def stream_request(chunked):
    with Stream() as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        watch = Watch(b)
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=60 * SLOW)
        body = (block(i) for i in range(STREAM))
        con.request('POST', '/big', body=body, headers={} if chunked else {'Content-Length': str(STREAM << 20)}, encode_chunked=chunked)
        ans = con.getresponse()
        assert ans.status == 200 and ans.read() == b'%d %d' % (STREAM << 20, checksum())
        con.close()
        under(watch, b, 'a request' + (' in chunks' if chunked else ''))


def test_a_large_request_streams():
    stream_request(False)


def test_a_large_request_in_chunks_streams():
    stream_request(True)


def test_a_large_answer_streams():
    with Stream() as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        watch = Watch(b)
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=60 * SLOW)
        con.request('GET', '/big')
        ans = con.getresponse()
        n = crc = 0
        for part in iter(lambda: ans.read1(1 << 20), b''):
            n, crc = n + len(part), zlib.crc32(part, crc)
        assert (ans.status, n, crc) == (200, STREAM << 20, checksum())
        con.close()
        under(watch, b, 'an answer')


def test_a_slow_reader_holds_the_back_end():
    """Back-pressure: a client that does not read costs no memory, and still gets all."""
    with Stream() as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        watch = Watch(b)
        with b.connect(60) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            s.sendall(b'GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
            time.sleep(2)
            n = sum(len(part) for part in iter(lambda: s.recv(1 << 20), b''))
        assert n > STREAM << 20
        under(watch, b, 'an answer to a slow reader')


def test_a_client_that_goes_away():
    """The broker drops what streams when the client has gone, and goes on."""
    with Stream() as back, Broker({'p.yaml': PROXY}, properties=['back=%d' % back.port]) as b:
        for _ in range(5):
            with b.connect() as s:
                s.sendall(b'GET /big HTTP/1.1\r\nHost: x\r\n\r\n')
                assert len(s.recv(65536)) > 0
        until(lambda: b.status()['generations'][0]['in_flight'] == 0, 20, 'nothing is in flight')
        con = http.client.HTTPConnection('127.0.0.1', b.port, timeout=60 * SLOW)
        con.request('POST', '/big', body=b'abc')
        assert con.getresponse().read() == b'3 %d' % zlib.crc32(b'abc')
        con.close()


# ---- large documents through calls

def large(size):
    """An order document of about `size` bytes, and what the XSLT flow makes of it."""
    with open(flows.order('500b'), 'rb') as f:
        text = f.read()
    with open(flows.answer('XSLTProxy', '500b'), 'rb') as f:
        done = f.read()
    one = text[text.index(b'<order>'):text.index(b'<!--')]
    n = size // len(one)
    done_one = re.sub(rb'>\s+<', b'><', one).strip()
    assert done_one in done
    return text.replace(one, one * n), done.replace(done_one, done_one * n)


def test_a_10_mb_document_through_xpath():
    document, _ = large(DOCUMENT)
    with flows.broker(settings=BUSY_MACHINE) as b:
        status, headers, body = b.post('/service/CBRProxy', document, timeout=60)
        assert status == 200 and body == document, (status, len(body), body[:200])
        without = document.replace(b'<symbol>', b'<s>').replace(b'</symbol>', b'</s>')
        assert b.post('/service/CBRProxy', without, timeout=60)[::2] == (400, b'no order')


def test_a_10_mb_document_through_xslt():
    document, done = large(DOCUMENT)
    with flows.broker(settings=BUSY_MACHINE) as b:
        began = time.monotonic()
        status, headers, body = b.post('/service/XSLTProxy', document, timeout=60)
        print('%d bytes in, %d out, %.0f ms' % (len(document), len(body), (time.monotonic() - began) * 1000))
        assert status == 200 and body == done, (status, len(body), len(done), body[:300])
        assert b.status()['kinds']['xform']['deaths'] == 0


def test_documents_beyond_the_limits():
    """max_body: 413; xform.max_size: that message fails, the worker lives on."""
    document, done = large(2 << 20)
    with flows.broker(settings=['http.max_body=1MiB']) as b:
        assert b.post('/service/XSLTProxy', document)[0] == 413
    with flows.broker(settings=['xform.max_size=1MiB']) as b:
        assert b.post('/service/XSLTProxy', document)[0] in (413, 500)
        assert b.post('/service/CBRProxy', document)[0] in (413, 500)
        flows.load(b, 'XSLTProxy', connections=8, requests=100).all_ok()
        assert b.status()['kinds']['xform']['deaths'] == 0


if __name__ == '__main__':
    main(globals())
