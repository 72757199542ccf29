#!/usr/bin/env python3
"""Queues between routes, and exchanges that a clock makes."""
import os
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, main, setting, until

TEXT = {'Content-Type': 'text/plain'}
APPEND = '      - to: {uri: "file:out", parameters: {fileName: %s, fileExist: Append, appendChars: "\\\\n"}}\n'


def http(path, uri):
    return '- from:\n    uri: platform-http:%s\n    steps:\n      - to: "%s"\n' % (path, uri)


def queue(uri, steps):
    return '- from:\n    uri: "%s"\n    steps:\n%s' % (uri, steps)


def lines(b, name):
    try:
        with open(os.path.join(b.folder, 'out', name)) as f:
            return f.read().split('\n')[:-1]
    except FileNotFoundError:
        return []


def test_reply_of_the_other_route():
    routes = (http('/wait', 'seda:a') + http('/never', 'seda:a?waitForTaskToComplete=Never') +
              http('/late', 'seda:slow?timeout=100') + http('/bad', 'seda:bad') +
              queue('seda:a', '      - setHeader: {name: x, constant: "1"}\n      - setBody: {simple: "<${body}>"}\n') +
              queue('seda:slow', '      - delay: {constant: "1000"}\n') +
              queue('seda:bad', '      - throwException: {exceptionType: java.io.IOException, message: no}\n'))
    with Broker({'r.yaml': routes}) as b:
        status, headers, body = b.post('/wait', b'q', TEXT)
        assert (status, body, headers.get('x')) == (200, b'<q>', '1')
        status, headers, body = b.post('/never', b'q', TEXT)
        assert (status, body, headers.get('x')) == (200, b'q', None)
        assert b.post('/late', b'q', TEXT)[0] == 500
        b.wait_line('The OUT message was not received within: 100 millis')
        assert b.post('/bad', b'q', TEXT)[0] == 500


def test_full_queue():
    full = '?waitForTaskToComplete=Never&size=2'
    routes = (http('/fail', 'seda:none' + full) + http('/discard', 'seda:none%s&discardWhenFull=true' % full) +
              http('/late', 'seda:none%s&blockWhenFull=true&offerTimeout=100' % full) +
              http('/missing', 'seda:nobody?failIfNoConsumers=true') + http('/drop', 'seda:nobody?discardIfNoConsumers=true') +
              http('/block', 'seda:slow%s&blockWhenFull=true' % full) +
              queue('seda:slow?size=2', '      - delay: {constant: "20"}\n' + APPEND % 'slow'))
    with Broker({'r.yaml': routes}) as b:
        assert [b.post('/fail', b'q', TEXT)[0] for _ in range(3)] == [200, 200, 500]
        b.wait_line('Queue full')
        assert b.post('/discard', b'q', TEXT)[0] == 200
        assert b.post('/late', b'q', TEXT)[0] == 500
        assert b.post('/missing', b'q', TEXT)[0] == 500
        assert b.post('/drop', b'q', TEXT)[0] == 200
        sent = ['%02d' % i for i in range(20)]
        for line in sent:
            assert b.post('/block', line.encode(), TEXT)[0] == 200
        until(lambda: lines(b, 'slow') == sent, 10, 'all, in their order')


def test_concurrent_consumers():
    routes = http('/go', 'seda:q?waitForTaskToComplete=Never') + queue(
        'seda:q?concurrentConsumers=5', '      - delay: {constant: "300"}\n' + APPEND % 'done')
    with Broker({'r.yaml': routes}) as b:
        started = time.monotonic()
        for _ in range(10):
            assert b.post('/go', b'x', TEXT)[0] == 200
        until(lambda: len(lines(b, 'done')) == 10, 10)
        assert 0.5 < time.monotonic() - started < 1.5 * (4 if os.environ.get('HINNY_SANITIZED') else 1)


def test_reloads_lose_nothing():
    count = setting('MESSAGES', 300)
    routes = http('/go', 'seda:q?waitForTaskToComplete=Never') + queue('seda:q', '      - delay: {constant: "3"}\n' + APPEND % 'done')
    with Broker({'r.yaml': routes}) as b:
        sent, stop = [], threading.Event()

        def feed():
            for i in range(count):
                assert b.post('/go', b'%d' % i, TEXT)[0] == 200
                sent.append(str(i))
            stop.set()
        feeder = threading.Thread(target=feed)
        feeder.start()
        reloads = 0
        while not stop.is_set():
            b.hinny('reload', '--wait', check=True)
            reloads += 1
        feeder.join()
        until(lambda: len(lines(b, 'done')) >= count, 20)
        print('%d reloads, %d messages' % (reloads, count))
        assert sorted(lines(b, 'done')) == sorted(sent)
        assert b.post('/go', b'last', TEXT)[0] == 200
        assert b.stop() == 0
        assert 'last' in lines(b, 'done')


def test_scheduler():
    routes = queue('scheduler:s?initialDelay=0&delay=50&repeatCount=3&includeMetadata=true',
                   '      - setBody: {simple: "${exchangeProperty.CamelTimerCounter}"}\n' + APPEND % 'ticks')
    with Broker({'r.yaml': routes}) as b:
        until(lambda: lines(b, 'ticks') == ['1', '2', '3'], 10)
        time.sleep(0.2)
        assert lines(b, 'ticks') == ['1', '2', '3']


def test_calendar():
    routes = (queue('cron:c?schedule=0/1+*+*+*+*+?', '      - setBody: {simple: "${header.triggerName} ${header.triggerGroup}"}\n' + APPEND % 'cron') +
              queue('quartz:g/q?trigger.repeatInterval=50&trigger.repeatCount=2&triggerStartDelay=0',
                    '      - setBody: {simple: "${header.triggerName} ${header.triggerGroup}"}\n' + APPEND % 'quartz'))
    with Broker({'r.yaml': routes}) as b:
        until(lambda: len(lines(b, 'cron')) >= 2, 10)
        assert set(lines(b, 'cron')) == {'c Camel'}
        assert lines(b, 'quartz') == ['q g'] * 3


if __name__ == '__main__':
    main(globals())
