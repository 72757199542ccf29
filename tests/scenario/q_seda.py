#!/usr/bin/env python3
"""Queues between routes, and exchanges that a clock makes."""
import json
import os
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, check, main, setting, until

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


def test_scheduler_greedy_and_backoff():
    poll = '      - setProperty: {name: CamelSchedulerPolledMessages, simple: {expression: "%s", resultType: boolean}}\n'
    routes = (queue('scheduler:g?initialDelay=0&delay=60000&greedy=true', '      - to: mock:g\n' + poll % 'false') +
              queue('scheduler:u?initialDelay=0&delay=1&timeUnit=HOURS', '      - to: mock:u\n') +
              queue('scheduler:off?initialDelay=0&delay=10&startScheduler=false', '      - to: mock:off\n') +
              queue('scheduler:b?initialDelay=0&delay=20&backoffMultiplier=1000&backoffIdleThreshold=3', '      - to: mock:b\n' + poll % 'false'))
    with Broker({'r.yaml': routes}) as b:
        def counts():
            return {m['name']: m['received'] for m in b.admin({'command': 'mocks'})['result']['mocks']}
        until(lambda: counts().get('b') == 3, 10)
        time.sleep(0.2)
        assert counts() == {'g': 1, 'u': 1, 'b': 3}, counts()


def test_timer_at_a_time():
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(time.time() + 2))
    routes = queue('timer:t?repeatCount=1&time=' + stamp, '      - to: mock:t\n') + queue('timer:p?repeatCount=1&delay=60000&time=2020-01-01T00:00:00', '      - to: mock:p\n')
    with Broker({'r.yaml': routes}) as b:
        def counts():
            return {m['name']: m['received'] for m in b.admin({'command': 'mocks'})['result']['mocks']}
        until(lambda: counts() == {'p': 1}, 5, 'a time that was is now')
        until(lambda: counts().get('t') == 1, 10)
        assert abs(time.time() - time.mktime(time.strptime(stamp, '%Y-%m-%d %H:%M:%S'))) < 2 * 4
    for uri, text in (('timer:t?time=soon', 'expected a time such as'), ('scheduler:s?backoffMultiplier=2', 'backoffIdleThreshold'), ('quartz:q?cron=0 0 * * * ?&trigger.repeatCount=1', 'cannot be together')):
        status, _, err = check({'r.yaml': queue(uri, '      - stop: {}\n')})
        assert status == 1 and text in err, err


def test_quartz_repeats_for_ever():
    with Broker({'r.yaml': queue('quartz:q?triggerStartDelay=0', '      - to: mock:q\n')}) as b:
        until(lambda: sum(m['received'] for m in b.admin({'command': 'mocks'})['result']['mocks']) >= 2, 10, 'once a second')


def test_several_consumers():
    many = 'seda:m?multipleConsumers=true'
    routes = (http('/go', 'seda:m?waitForTaskToComplete=Never') + http('/wait', 'seda:m') +
              queue(many, '      - delay: {constant: "20"}\n' + APPEND % 'one') + queue(many, APPEND % 'two') +
              queue(many, '      - filter: {simple: "${body} == \'bad\'", steps: [{throwException: {exceptionType: java.io.IOException, message: no}}]}\n' + APPEND % 'three'))
    with Broker({'r.yaml': routes}) as b:
        for i in range(5):
            assert b.post('/go', b'%d' % i, TEXT)[0] == 200
        for name in 'one', 'two', 'three':
            until(lambda: sorted(lines(b, name)) == ['0', '1', '2', '3', '4'], 10, 'each gets a copy')
        assert b.post('/wait', b'w', TEXT)[0] == 200
        assert all('w' in lines(b, name) for name in ('one', 'two', 'three')), 'it ends when all have ended'
        assert b.post('/wait', b'bad', TEXT)[0] == 500
        until(lambda: 'bad' in lines(b, 'one') and 'bad' in lines(b, 'two'), 10)


def test_one_consumer_alone():
    for options in '', '?multipleConsumers=true':
        status, _, err = check({'r.yaml': queue('seda:m' + options, '      - stop: {}\n') + queue('seda:m', '      - stop: {}\n')})
        assert status == 1 and 'multiple consumers for the same endpoint' in err, err


def test_poll():
    routes = (http('/put', 'seda:q?waitForTaskToComplete=Never') + http('/putw', 'seda:q') +
              '- from:\n    uri: platform-http:/take\n    steps:\n      - poll: {uri: "seda:q", timeout: 100}\n      - setBody: {simple: "[${body}]"}\n'
              '- from:\n    uri: platform-http:/long\n    steps:\n      - pollEnrich: {constant: "seda:q", timeout: 30000, variableReceive: v}\n'
              '      - setBody: {simple: "${body} ${variable.v} ${header.x-a} ${variable.header:v.X-A}"}\n'
              '- from:\n    uri: platform-http:/any\n    steps:\n      - pollEnrich: {simple: "${header.x-from}", timeout: 0}\n')
    with Broker({'r.yaml': routes}) as b:
        assert b.post('/take', b'x', TEXT)[2] == b'[]'
        assert b.post('/put', b'one', TEXT)[0] == b.post('/put', b'two', TEXT)[0] == 200
        assert [b.post('/take', b'x', TEXT)[2] for _ in range(3)] == [b'[one]', b'[two]', b'[]']
        answers = []
        late = threading.Thread(target=lambda: answers.append(b.post('/long', b'mine', TEXT)[2]))
        late.start()
        time.sleep(2.5)  # longer than one question of the home
        status, _, body = b.post('/putw', b'given', dict(TEXT, **{'X-A': 'ha'}))
        assert (status, body) == (200, b'given'), 'what is taken counts as done'
        late.join(10)
        assert answers == [b'mine given  ha'], answers
        assert b.post('/any', b'x', dict(TEXT, **{'X-From': 'timer:t'}))[0] == 500
        b.wait_line('cannot be received from by a step')


def test_poll_at_load():
    for step, text in (('{uri: "timer:t"}', 'cannot be received from by a step'), ('{uri: "nosuch:t"}', 'unknown component'),
                       ('{uri: "seda:q?size=0"}', 'size'), ('{}', 'missing option "uri" of poll')):
        status, _, err = check({'r.yaml': '- from:\n    uri: direct:a\n    steps:\n      - poll: %s\n' % step})
        assert status == 1 and 'r.yaml:4' in err and text in err, err


def test_mock_and_stub():
    routes = (http('/m', 'mock:m?retainLast=2&unknown=1') + http('/s', 'stub:smtp://host?to=me&waitForTaskToComplete=Never') +
              '- from:\n    uri: platform-http:/d\n    steps:\n      - setHeader: {name: h, constant: v}\n      - toD: "mock:${header.x-name}"\n')
    with Broker({'r.yaml': routes}) as b:
        for i in range(3):
            status, _, body = b.post('/m', ('h\xe9%d' % i).encode(), TEXT)
            assert (status, body) == (200, ('h\xe9%d' % i).encode())
        assert b.post('/d', b'q', dict(TEXT, **{'X-Name': 'other'}))[0] == 200
        mocks = {m['name']: m for m in json.loads(b.hinny('status', '--json', check=True)[1])['mocks']}
        assert (mocks['m']['received'], mocks['m']['kept'], mocks['other']['received']) == (3, 2, 1), mocks
        assert 'MOCK' in b.hinny('status', check=True)[1]
        answer = b.admin({'command': 'mocks', 'name': 'm'})['result']['mocks']
        assert [x['body'] for x in answer[0]['messages']] == ['h\xe91', 'h\xe92'] and 'messages' not in answer[1], answer
        answer = b.admin({'command': 'mocks', 'name': 'other'})['result']['mocks'][1]['messages'][0]
        assert answer['headers']['h'] == 'v' and answer['type'] and answer['number'] == 3, answer
        assert b.post('/s', b'x', TEXT)[0] == 200


def test_mock_keeps_a_bounded_number():
    count = 12000
    routes = ('- from:\n    uri: timer:t?repeatCount=1&delay=0\n    steps:\n      - loop:\n          constant: "%d"\n          steps:\n'
              '            - setBody: {simple: "${exchangeProperty.CamelLoopIndex}"}\n            - to: mock:many\n' % count)
    with Broker({'r.yaml': routes}) as b:
        def mock():
            return (b.admin({'command': 'mocks', 'name': 'many'})['result']['mocks'] or [{'received': 0}])[0]
        until(lambda: mock()['received'] == count, 30)
        kept = mock()
        assert kept['kept'] == 10000 == len(kept['messages'])
        assert kept['messages'][0]['body'] == '2000' and kept['messages'][-1]['body'] == '11999'


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
