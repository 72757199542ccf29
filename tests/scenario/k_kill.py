#!/usr/bin/env python3
"""Processes that die, hang or are poisoned: what each death may cost, and what it may not."""
import http.client
import os
import random
import signal
import socket
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
import flows
from broker import Broker, Load, SANITIZED, SLOW, SOAK, alive, main, setting, until

SECONDS = setting('KILL_SECONDS', 4.0, 60.0)
ANSWER = '- from:\n    uri: platform-http:/r\n    steps:\n      - setBody: {constant: "hello"}\n'


def deaths(b, kind):
    return b.status()['kinds'][kind]['deaths']


# ---- xform

def kill_under_load(flow):
    with flows.broker() as b:
        load = flows.load(b, flow, connections=32, seconds=SECONDS, allow=500)
        kills = 0
        until(lambda: b.status()['kinds']['xform']['serving'] == 2, 10)
        end = time.monotonic() + SECONDS - 0.5
        while time.monotonic() < end:
            time.sleep(0.5)
            workers = b.workers('xform')
            if workers:
                os.kill(random.choice(workers), signal.SIGKILL)
                kills += 1
        # A call that was worked on twice by workers that were killed may fail; nothing else may.
        r = load.all_ok(allowed=kills // 2, retried=0)
        print('%s: %d workers killed, %d requests, %d of them failed' % (flow, kills, r['requests'], r['allowed']))
        until(lambda: b.status()['kinds']['xform']['serving'] == 2, 10, 'both workers serve again')
        assert deaths(b, 'http') == 0 and deaths(b, 'xform') == kills
        flows.load(b, flow, connections=8, requests=100).all_ok()


def test_xform_killed_under_xpath():
    kill_under_load('CBRProxy')


def test_xform_killed_under_xslt():
    kill_under_load('XSLTProxy')


# ---- http

def test_http_worker_killed():
    """Its connections end; new ones are served within 100 ms."""
    with Broker({'r.yaml': ANSWER}) as b:
        kept = [http.client.HTTPConnection('127.0.0.1', b.port, timeout=10 * SLOW) for _ in range(16)]
        for con in kept:
            con.request('GET', '/r')
            assert con.getresponse().read() == b'hello'
        victim = b.workers('http')[0]
        os.kill(victim, signal.SIGKILL)
        slowest = 0
        for _ in range(50):
            t = time.monotonic()
            assert b.get('/r')[2] == b'hello'
            slowest = max(slowest, time.monotonic() - t)
        ended = sum(is_closed(con.sock) for con in kept)
        print('%d of 16 connections ended; the slowest of 50 new ones took %.0f ms' % (ended, slowest * 1000))
        assert slowest < (0.1 if SOAK else 1.0 * SLOW), slowest
        until(lambda: b.status()['kinds']['http']['serving'] == 2, 10)
        assert b.status()['kinds']['http']['deaths'] == 1 and not alive(victim)
        for con in kept:  # those of the others go on
            if not is_closed(con.sock):
                con.request('GET', '/r')
                assert con.getresponse().read() == b'hello'
            con.close()
        assert ended < 16


def is_closed(s):
    s.setblocking(False)
    try:
        return s.recv(1, socket.MSG_PEEK) == b''
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        s.settimeout(10 * SLOW)


def test_http_workers_killed_again_and_again():
    """A worker that had served is replaced at once, however often it dies."""
    with Broker({'r.yaml': ANSWER}) as b:
        for n in range(setting('HTTP_KILLS', 15, 200)):
            workers = until(lambda: len(b.workers('http')) == 2 and b.workers('http'), 10, 'two http workers')
            os.kill(random.choice(workers), signal.SIGKILL)
            for _ in range(4):
                assert b.get('/r')[2] == b'hello'
        until(lambda: b.status()['kinds']['http']['serving'] == 2, 15)
        assert b.status()['kinds']['http']['degraded'] == 0


# ---- hinnyd

def test_supervisor_killed():
    """Everything exits, and a restart at once on the same port and run folder serves."""
    with flows.broker() as b:
        load = flows.load(b, 'XSLTProxy', connections=8, seconds=1, allow=500)
        time.sleep(0.3)
        workers = b.workers()
        assert len(workers) == 4
        b.signal(signal.SIGKILL)
        b.proc.wait(5)
        began = time.monotonic()
        with flows.broker(port=b.port, args=['--dir', b.rundir]) as second:
            second.rundir = b.rundir
            assert second.post('/service/XSLTProxy', open(flows.order('1k'), 'rb').read())[2] == open(flows.answer('XSLTProxy', '1k'), 'rb').read()
            print('served again after %.0f ms' % ((time.monotonic() - began) * 1000))
            until(lambda: not [p for p in workers if alive(p)], 6.5, 'the old workers have gone')
            second.post('/service/XSLTProxy', open(flows.order('1k'), 'rb').read())
            load.result()
            assert second.stop() == 0


# ---- poison

POISON_XSL = '''<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:t="urn:hinny:test">
<xsl:output method="text"/>
<xsl:template match="/doc"><xsl:choose>
<xsl:when test="@kind='abort'"><xsl:value-of select="t:abort()"/></xsl:when>
<xsl:when test="@kind='crash'"><xsl:value-of select="t:crash()"/></xsl:when>
<xsl:when test="@kind='exit'"><xsl:value-of select="t:exit()"/></xsl:when>
<xsl:when test="@kind='hang'"><xsl:value-of select="t:hang()"/></xsl:when>
<xsl:when test="@kind='memory'"><xsl:value-of select="t:memory()"/></xsl:when>
<xsl:otherwise>good <xsl:value-of select="@n"/></xsl:otherwise>
</xsl:choose></xsl:template></xsl:stylesheet>'''
POISON_ROUTE = '- from:\n    uri: platform-http:/t\n    steps:\n      - to: xslt:poison.xsl\n'


def poison_broker(settings=()):
    return Broker({'p.yaml': POISON_ROUTE, 'poison.xsl': POISON_XSL}, settings=settings, extra_env={'HINNY_TEST_POISON': '1', 'ASAN_OPTIONS': 'handle_abort=0:handle_segv=0'})


def good_load(b, seconds):
    body, expected = b.write('good.xml', '<doc n="1"/>'), b.write('good.txt', 'good 1')
    return Load(b.port, '/t', body=body, expect=expected, connections=64, seconds=seconds)


def test_poison_among_64_good_clients():
    with poison_broker([] if SANITIZED else ['workers.xform.memory=256MiB']) as b:
        load = good_load(b, max(3.0, SECONDS))
        for kind in ('abort', 'crash', 'exit') + (() if SANITIZED else ('memory',)):
            before = deaths(b, 'xform')
            poison = '<doc kind="%s"/>' % kind
            status, _, body = b.post('/t', poison)
            assert status == 500, (kind, status, body)
            until(lambda: b.status()['kinds']['xform']['serving'] == 2, 10)
            assert deaths(b, 'xform') == before + 2, kind  # two tries in all
            for _ in range(10):  # refused for a while; each home learns for itself
                assert b.post('/t', poison)[0] == 500
            assert deaths(b, 'xform') <= before + 2 * 2, 'a refused document was tried again'
        r = load.all_ok(retried=0)
        print('%d good requests' % r['requests'])
        assert deaths(b, 'http') == 0


def test_a_refused_document_is_not_tried_for_a_while():
    with poison_broker(['xform.refuse=%ds' % SLOW, 'workers.http.instances=1']) as b:
        for _ in range(4):
            assert b.post('/t', '<doc kind="exit"/>')[0] == 500
            assert deaths(b, 'xform') == 2
        assert b.post('/t', '<doc n="3"/>')[2] == b'good 3'
        until(lambda: b.post('/t', '<doc kind="exit"/>')[0] == 500 and deaths(b, 'xform') == 4, 20, 'it is tried again')


def test_workers_that_die_as_soon_as_they_live():
    """Each worker is ended by its first message, while its connections are made; a good document between is answered as ever."""
    with poison_broker() as b:
        slowest = 0
        for n in range(setting('YOUNG_DEATHS', 25, 100)):
            assert b.post('/t', '<doc kind="exit" n="%d"/>' % n)[0] == 500
            began = time.monotonic()
            assert b.post('/t', '<doc n="%d"/>' % n)[2] == b'good %d' % n
            slowest = max(slowest, time.monotonic() - began)
        print('the slowest good one took %.0f ms' % (slowest * 1000))
        assert slowest < 8 * SLOW
        assert b.status()['kinds']['xform']['degraded'] == 0


def test_a_hanging_transformation_is_ended():
    with poison_broker(['xform.time_limit=1s']) as b:
        load = good_load(b, 3.0)
        began = time.monotonic()
        assert b.post('/t', '<doc kind="hang"/>')[0] == 500
        took = time.monotonic() - began
        print('ended after %.2f s' % took)
        assert 0.9 < took < 4 * SLOW
        load.all_ok(retried=0)
        assert deaths(b, 'xform') <= 2 and deaths(b, 'http') == 0
        b.wait_line('worked on one call for more than 1000 ms')
        assert b.post('/t', '<doc n="2"/>')[2] == b'good 2'


def test_requests_behind_a_hanging_one_are_served():
    """With one xform all calls wait behind the one that hangs; they are served when it has been ended."""
    with poison_broker(['xform.time_limit=500ms', 'workers.xform.instances=1']) as b:
        results = []

        def post(text):
            results.append((text, b.post('/t', text)[::2]))
        threads = [threading.Thread(target=post, args=('<doc kind="hang"/>',))]
        threads[0].start()
        time.sleep(0.2)
        threads += [threading.Thread(target=post, args=('<doc n="%d"/>' % n,)) for n in range(20)]
        for t in threads[1:]:
            t.start()
        for t in threads:
            t.join()
        for text, (status, body) in results:
            if 'hang' in text:
                assert status == 500
            else:
                assert (status, body) == (200, b'good ' + text.split('"')[1].encode()), (text, status, body)


# ---- hung

def test_a_hung_worker_is_replaced():
    with flows.broker(settings=['supervisor.ping_interval=200ms', 'supervisor.ping_timeout=1500ms']) as b:
        for kind, flow in (('xform', 'XSLTProxy'), ('http', 'DirectProxy')):
            victim = b.workers(kind)[0]
            os.kill(victim, signal.SIGSTOP)
            b.wait_line(r'worker %s\.\d hangs' % kind, 15)
            until(lambda: not alive(victim), 10, 'the hung %s worker has gone' % kind)
            until(lambda: b.status()['kinds'][kind]['serving'] == 2, 10, 'its successor serves')
            flows.load(b, flow, connections=16, requests=200).all_ok()


def test_a_worker_that_never_starts():
    """A kind that cannot start ends the start with status 1 and says what its last words were."""
    with Broker({'r.yaml': ANSWER}, extra_env={'HINNY_LIBEXECDIR': '/bin'}, wait=False) as b:
        assert b.proc.wait(20 * SLOW) == 1
        b.reader.join(5)
        assert 'hinny-http' in b.log(), b.log()


if __name__ == '__main__':
    main(globals())
