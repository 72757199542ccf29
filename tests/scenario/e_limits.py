#!/usr/bin/env python3
"""Throttles, breakers, balancers: state that all workers share and that a reload keeps. Options of sends and loops."""
import os
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SLOW, Broker, check, main, until

TEXT = {'Content-Type': 'text/plain'}


def route(path, steps, id=None):
    return '- route:\n    id: %s\n    from:\n      uri: platform-http:%s\n      steps:\n%s' % (
        id or path[1:], path, ''.join('        - %s\n' % s for s in steps))


def together(n, what):
    """n calls of what(i) at a time; their results."""
    out = [None] * n

    def one(i):
        out[i] = what(i)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def test_at_most_so_many_at_a_time():
    busy = ['throttle: {constant: "3", mode: ConcurrentRequests}', 'to: "mock:in"', 'delay: {constant: "150"}']
    routes = (route('/busy', busy) +
              route('/reject', ['throttle: {constant: "1", mode: ConcurrentRequests, rejectExecution: true}', 'delay: {constant: "300"}']))
    with Broker({'r.yaml': routes}) as b:
        began = time.monotonic()
        assert together(9, lambda i: b.post('/busy', b'x', TEXT)[0]) == [200] * 9
        took = time.monotonic() - began
        assert took >= 0.45, 'three rounds of three: %.3f' % took
        times = sorted(m['time'] for m in b.admin({'command': 'mocks', 'name': 'in'})['result']['mocks'][0]['messages'])
        for i in range(len(times) - 3):
            assert times[i + 3] - times[i] >= 145, times
        assert sorted(together(4, lambda i: b.post('/reject', b'x', TEXT)[0])) == [200, 500, 500, 500]
        assert b.post('/reject', b'x', TEXT)[0] == 200


def test_permits_of_a_dead_worker():
    routes = route('/busy', ['throttle: {constant: "1", mode: ConcurrentRequests}', 'delay: {simple: "${header.x-ms}"}'])
    with Broker({'r.yaml': routes}) as b:
        def hang():
            try:
                b.post('/busy', b'x', dict(TEXT, **{'X-Ms': '60000'}))
            except Exception:
                pass  # its worker is killed
        t = threading.Thread(target=hang)
        t.start()
        until(lambda: sum(w['exchanges'] for w in b.status()['workers']) == 1, 10)
        victims = [w['pid'] for w in b.status()['workers'] if w['exchanges'] == 1]
        os.kill(victims[0], 9)
        t.join(10 * SLOW)
        assert b.post('/busy', b'x', dict(TEXT, **{'X-Ms': '0'}))[0] == 200


def test_a_limit_for_each_key():
    routes = route('/key', ['throttle: {constant: "1", timePeriodMillis: 60000, rejectExecution: true, correlationExpression: {header: x-key}}'])
    with Broker({'r.yaml': routes}) as b:
        def ask(key):
            return b.post('/key', b'x', dict(TEXT, **{'X-Key': key}))[0]
        assert [ask(k) for k in 'abcabc'] == [200, 200, 200, 500, 500, 500]
        b.wait_line('Exceeded the max throttle rate of 1 within 60000ms')


def test_a_reload_keeps_what_was_counted():
    breaker = ('circuitBreaker: {id: cb, resilience4jConfiguration: {minimumNumberOfCalls: 2, slidingWindowSize: 2, waitDurationInOpenState: 60s},'
               ' steps: [{throwException: {exceptionType: java.io.IOException, message: down}}], onFallback: {steps: [{setBody: {simple: "${exchangeProperty.CamelCircuitBreakerState}"}}]}}')

    def text(more):
        return (route('/cb', [breaker]) + route('/th', ['throttle: {id: th, constant: "2", timePeriodMillis: 60000, rejectExecution: true}']) +
                route('/rr', ['loadBalance: {id: lb, roundRobinLoadBalancer: {}, steps: [{setBody: {constant: a}}, {setBody: {constant: b}}, {setBody: {constant: c}}]}']) +
                route('/sample', ['sample: {id: sa, samplePeriod: 60s}', 'setBody: {constant: passed}']) + more)
    with Broker({'r.yaml': text('')}) as b:
        states = [b.post('/cb', b'x', TEXT)[2] for _ in range(3)]
        assert states == [b'CLOSED', b'OPEN', b'OPEN'], states
        assert [b.post('/th', b'x', TEXT)[0] for _ in range(3)] == [200, 200, 500]
        assert [b.post('/rr', b'x', TEXT)[2] for _ in range(2)] == [b'a', b'b']
        assert [b.post('/sample', b'x', TEXT)[2] for _ in range(2)] == [b'passed', b'x']
        for i in range(3):
            b.write('r.yaml', text(route('/new%d' % i, ['setBody: {constant: new}'])))
            b.hinny('reload', '--wait', check=True)
            assert b.get('/new%d' % i)[2] == b'new'
            assert b.post('/cb', b'x', TEXT)[2] == b'OPEN'
            assert b.post('/th', b'x', TEXT)[0] == 500
            assert b.post('/sample', b'x', TEXT)[2] == b'x'
        assert [b.post('/rr', b'x', TEXT)[2] for _ in range(2)] == [b'c', b'a']
        # Another limit is another state.
        b.write('r.yaml', text('').replace('constant: "2", timePeriod', 'constant: "3", timePeriod'))
        b.hinny('reload', '--wait', check=True)
        assert b.post('/th', b'x', TEXT)[0] == 200


def test_breaker_by_time_and_bulkhead():
    by_time = ('circuitBreaker: {resilience4jConfiguration: {slidingWindowType: TIME_BASED, slidingWindowSize: 30, minimumNumberOfCalls: 3, slidingWindowSynchronizationStrategy: LOCK_FREE, micrometerEnabled: true},'
               ' steps: [{throwException: {exceptionType: java.io.IOException, message: down}}], onFallback: {fallbackViaNetwork: false, steps: [{setBody: {simple: "${exchangeProperty.CamelCircuitBreakerState}"}}]}}')
    bulkhead = ('circuitBreaker: {resilience4jConfiguration: {bulkheadEnabled: true, bulkheadMaxConcurrentCalls: 2},'
                ' steps: [{delay: {constant: "300"}}, {setBody: {constant: done}}], onFallback: {steps: [{setBody: {constant: full}}]}}')
    waiting = ('circuitBreaker: {resilience4jConfiguration: {bulkheadEnabled: true, bulkheadMaxConcurrentCalls: 1, bulkheadMaxWaitDuration: 5s},'
               ' steps: [{delay: {constant: "50"}}, {setBody: {constant: done}}]}')
    thrown = ('circuitBreaker: {resilience4jConfiguration: {bulkheadEnabled: true, bulkheadMaxConcurrentCalls: 1}, steps: [{delay: {constant: "300"}}]}')
    with Broker({'r.yaml': route('/t', [by_time]) + route('/b', [bulkhead]) + route('/w', [waiting]) + route('/x', [thrown])}) as b:
        assert [b.post('/t', b'x', TEXT)[2] for _ in range(4)] == [b'CLOSED', b'CLOSED', b'OPEN', b'OPEN']
        assert sorted(together(4, lambda i: b.post('/b', b'x', TEXT)[2])) == [b'done', b'done', b'full', b'full']
        assert together(4, lambda i: b.post('/w', b'x', TEXT)[2]) == [b'done'] * 4
        assert sorted(together(2, lambda i: b.post('/x', b'x', TEXT)[0])) == [200, 500]
        b.wait_line("Error processing exchange.*BulkheadFullException - Bulkhead 'circuitBreaker4' is full and does not permit further calls")


def test_options_of_sends():
    routes = ('- interceptSendToEndpoint:\n    uri: mock:a\n    afterUri: mock:after\n    steps:\n      - setHeader: {name: before, constant: "1"}\n' +
              route('/after', ['to: mock:a', 'toD: "mock:${header.x-to}"']) +
              route('/tap', ['setVariable: {name: v, constant: sent}', 'wireTap: {uri: "mock:empty", copy: false}', 'wireTap: {uri: "mock:sent", variableSend: v}',
                             'wireTap: {uri: "mock:${body}", allowedSchemes: seda}', 'wireTap: {uri: "nosuch:${body}", ignoreInvalidEndpoint: true}']) +
              route('/enrich', ['setVariable: {name: v, constant: sent}', 'enrich: {constant: "direct:e", variableSend: v, variableReceive: got}',
                                'setBody: {simple: "${body} ${variable.got} ${variable.header:got.e} [${header.e}]"}']) +
              route('/d', ['toD: {uri: "mock:${body}", allowedSchemes: "seda,direct"}']) +
              route('/log', ['log: {message: "x-a", logLanguage: header, logName: mine}']) +
              '- from:\n    uri: direct:e\n    steps:\n      - setHeader: {name: e, constant: h}\n      - setBody: {simple: "<${body}>"}\n')
    with Broker({'r.yaml': routes}) as b:
        assert b.post('/after', b'x', dict(TEXT, **{'X-To': 'b'}))[0] == 200
        assert b.post('/tap', b'x', TEXT)[2] == b'x'

        def mocks():
            return {m['name']: m['messages'] for m in b.admin({'command': 'mocks', 'name': '*'})['result']['mocks']}
        until(lambda: 'empty' in mocks() and 'sent' in mocks(), 10)
        got = mocks()
        assert [len(got[n]) for n in ('a', 'after', 'b')] == [1, 1, 1] and got['after'][0]['headers']['before'] == '1', got
        assert got['a'][0]['number'] < got['after'][0]['number']
        assert got['empty'][0]['body'] is None and got['empty'][0]['headers'] == {}, got['empty']
        assert got['sent'][0]['body'] == 'sent'
        b.wait_line('the scheme of endpoint mock:x is not among the allowedSchemes seda')
        assert b.post('/enrich', b'x', TEXT)[2] == b'x <sent> h []'
        assert b.post('/d', b'x', TEXT)[0] == 500
        assert b.post('/log', b'x', dict(TEXT, **{'X-A': 'told'}))[0] == 200
        b.wait_line('told.*logger=mine')
        assert 'x' not in mocks() and 'nosuch' not in b.log()


def test_loop_ends_with_the_broker():
    steps = 'steps: [{delay: {constant: "20"}}]'
    routes = '- from:\n    uri: timer:t?repeatCount=1&delay=0\n    steps:\n      - to: mock:begun\n      - loop: {constant: "100000", breakOnShutdown: true, %s}\n      - log: "after ${exchangeProperty.CamelLoopIndex}"\n' % steps
    with Broker({'r.yaml': routes}) as b:
        until(lambda: b.admin({'command': 'mocks'})['result']['mocks'], 10)
        assert b.stop() == 0
        b.wait_line('msg="after [0-9]+"')


def test_redelivery_ends_with_the_broker():
    routes = ('- errorHandler:\n    defaultErrorHandler:\n      logName: mine\n      redeliveryPolicy: {maximumRedeliveries: -1, redeliveryDelay: 20, allowRedeliveryWhileStopping: false}\n'
              '- from:\n    uri: timer:t?repeatCount=1&delay=0\n    steps:\n      - to: mock:begun\n      - throwException: {exceptionType: java.io.IOException, message: down}\n')
    with Broker({'r.yaml': routes}) as b:
        until(lambda: b.admin({'command': 'mocks'})['result']['mocks'], 10)
        assert b.stop() == 0
        b.wait_line('Exhausted after delivery attempt.*down.*logger=mine')


def test_log_in_intervals():
    routes = route('/g', ['to: "log:grouped?groupInterval=100&groupDelay=50"']) + route('/all', ['to: "log:idle?groupInterval=50&groupActiveOnly=false"'])
    with Broker({'r.yaml': routes}, settings=['workers.http.instances=1']) as b:
        for _ in range(5):
            b.post('/g', b'x', TEXT)
        b.wait_line('Received: 5 new messages, with total 5 so far. Last group took: [0-9]+ millis which is: .* messages per second. average: .*logger=grouped')
        time.sleep(0.3)
        assert b.log().count('logger=grouped') == 1, 'nothing came since'
        b.post('/g', b'x', TEXT)
        b.wait_line('Received: 1 new messages, with total 6 so far')
        b.post('/all', b'x', TEXT)
        b.wait_line('Received: 0 new messages, with total 1 so far')
    status, _, err = check({'r.yaml': route('/a', ['to: "log:a?groupInterval=5&groupSize=5"'])})
    assert status == 1 and 'cannot be together' in err, err


def test_masked_logs():
    routes = """
- route:
    logMask: true
    from:
      uri: platform-http:/m
      steps:
        - log: '{"password":"${body}","a":"b"}'
        - to: log:l?showHeaders=true&logMask=true&style=Tab
        - to: log:open?plain=true
"""
    with Broker({'r.yaml': routes}, settings=['log.format=plain']) as b:
        assert b.post('/m', b's3cret', {'Content-Type': 'text/plain', 'api-key': 'k3y'})[0] == 200
        b.wait_line(r'"password":"xxxxx","a":"b"')
        b.wait_line(r'Exchange\[\\?.*api-key=xxxxx')
        until(lambda: 's3cret' in b.log(), 10)
        assert 'k3y' not in b.log(), b.log()


def test_what_is_wrong():
    for steps, text in ((['circuitBreaker: {onFallback: {fallbackViaNetwork: true, steps: [{stop: {}}]}, steps: [{stop: {}}]}'], 'fallbackViaNetwork'),
                        (['throttle: {constant: "1", mode: Some}'], 'expected one of'),
                        (['throttle: {constant: "-1"}'], 'from 0 to 10000'),
                        (['log: {message: x, logLanguage: nosuch}'], 'nosuch'),
                        (['circuitBreaker: {resilience4jConfiguration: {bulkheadMaxConcurrentCalls: 0}, steps: [{stop: {}}]}'], 'bulkheadMaxConcurrentCalls')):
        status, _, err = check({'r.yaml': route('/a', steps)})
        assert status == 1 and 'r.yaml:6:' in err and text in err, err


if __name__ == '__main__':
    main(globals())
