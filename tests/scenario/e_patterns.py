#!/usr/bin/env python3
"""Patterns with several processes: what workers share, what waits, what outlives its exchange."""
import os
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Backend, Broker, main, ok, until

STRING = "'#class:org.apache.camel.processor.aggregate.StringAggregationStrategy'"
TWO = ('workers.http.instances=2',)


def together(n, fn):
    """fn() n times at once; what they gave."""
    out, threads = [], []
    for _ in range(n):
        threads.append(threading.Thread(target=lambda: out.append(fn())))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def test_round_robin_is_one_for_all_workers():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - loadBalance:
          roundRobinLoadBalancer: {}
          steps: [{setBody: {constant: a}}, {setBody: {constant: b}}, {setBody: {constant: c}}]
'''
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        got = []
        for _ in range(10):
            got += together(6, lambda: b.get('/t')[2])
        assert [got.count(x) for x in (b'a', b'b', b'c')] == [20, 20, 20], got
        assert b.stop() == 0


def test_a_throttle_is_one_for_all_workers():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - throttle: {constant: 5, timePeriodMillis: 60000, rejectExecution: true}
      - setBody: {constant: through}
- from:
    uri: platform-http:/slow
    steps:
      - throttle: {constant: 2, timePeriodMillis: 400}
      - setBody: {constant: through}
'''
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        got = together(20, lambda: b.get('/t')[0])
        assert (got.count(200), got.count(500)) == (5, 15), got
        since = time.monotonic()
        assert set(together(6, lambda: b.get('/slow')[0])) == {200}
        took = time.monotonic() - since
        assert 0.75 < took < 3, took
        assert b.stop() == 0


def test_a_breaker_is_one_for_all_workers():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - circuitBreaker:
          resilience4jConfiguration: {slidingWindowSize: 4, minimumNumberOfCalls: 4, waitDurationInOpenState: 60s}
          steps: [{throwException: {exceptionType: java.io.IOException, message: down}}]
          onFallback: {steps: [{setBody: {simple: "${exchangeProperty.CamelCircuitBreakerState}"}}]}
'''
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        together(12, lambda: b.get('/t')[2])
        assert set(together(12, lambda: b.get('/t')[2])) == {b'OPEN'}


def test_parallel_items_wait_together():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - split:
          tokenize: ","
          parallelProcessing: true
          aggregationStrategy: %s
          steps: [{delay: {constant: 300}}, {setBody: {simple: "<${body}>"}}]
- from:
    uri: platform-http:/call
    steps:
      - split:
          tokenize: ","
          parallelProcessing: true
          aggregationStrategy: %s
          steps:
            - removeHeaders: "*"
            - to: http:localhost:%d
'''
    served = []

    def answer(head, body, sock):
        served.append(head)
        time.sleep(0.2)
        return ok(b'(%d)' % len(served))

    with Backend(answer) as back:
        with Broker({'r.yaml': routes % (STRING, STRING, back.port)}) as b:
            body = ','.join(str(i) for i in range(20))
            since = time.monotonic()
            got = b.post('/t', body)
            took = time.monotonic() - since
            assert got[2].decode() == ''.join('<%d>' % i for i in range(20)), got
            assert took < 2, took
            since = time.monotonic()
            got = b.post('/call', '1,2,3,4,5,6')
            took = time.monotonic() - since
            assert got[0] == 200 and len(served) == 6 and took < 0.9, (got, took)
            assert b.stop() == 0


def test_xpath_in_each_item():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - split:
          xpath: /orders/order
          aggregationStrategy: %s
          steps:
            - setHeader: {name: id, xpath: {expression: /order/@id, resultType: String}}
            - setBody: {simple: "${header.id};"}
''' % STRING
    with Broker({'r.yaml': routes}) as b:
        n = 1000
        xml = '<orders>%s</orders>' % ''.join('<order id="%d"><n>x</n></order>' % i for i in range(n))
        since = time.monotonic()
        got = b.post('/t', xml, timeout=60)
        print('%d items with an xpath each: %.0f ms' % (n, 1000 * (time.monotonic() - since)))
        assert got[2].decode() == ''.join('%d;' % i for i in range(n)), got[:2]
        assert b.stop() == 0


def test_many_lines():
    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - split: {tokenize: "\\n", steps: [{setHeader: {name: x, simple: "${body}"}}]}
      - setBody: {constant: done}
- from:
    uri: platform-http:/u
    steps: [{setBody: {constant: here}}]
'''
    with Broker({'r.yaml': routes}, settings=('workers.http.instances=1',)) as b:
        lines = 200000
        body = 'some line of text\n' * lines
        slow = []
        t = threading.Thread(target=lambda: slow.append(b.post('/t', body, timeout=120)))
        since = time.monotonic()
        t.start()
        while t.is_alive():  # others are served meanwhile
            assert b.get('/u', timeout=20)[2] == b'here'
        took = time.monotonic() - since
        print('%d lines: %.2f us a line' % (lines, 1e6 * took / lines))
        assert slow[0][2] == b'done', slow[0][:2]
        assert b.stop() == 0


def test_a_tap_outlives_its_exchange_and_a_reload():
    seen = []

    def answer(head, body, sock):
        seen.append(head)
        return ok(b'')

    routes = '''
- from:
    uri: platform-http:/t
    steps:
      - wireTap: {uri: "direct:tap"}
      - setBody: {constant: %s}
- from:
    uri: direct:tap
    steps:
      - delay: {constant: 700}
      - removeHeaders: "*"
      - to: http:localhost:%d
'''
    with Backend(answer) as back:
        with Broker({'r.yaml': routes % ('one', back.port)}) as b:
            since = time.monotonic()
            assert b.get('/t')[2] == b'one'
            assert time.monotonic() - since < 0.5
            b.write('r.yaml', routes % ('two', back.port))
            b.hinny('reload', '--wait', check=True)
            assert b.get('/t')[2] == b'two'
            until(lambda: len(seen) == 2, 5, 'both taps')
            assert b.get('/t')[2] == b'two'
            assert b.stop() == 0  # it waits for the tap
            assert len(seen) == 3


def test_scopes():
    files = {
        'conf.yaml': '''
- routeConfiguration:
    onException: [{onException: {exception: [java.io.IOException], handled: {constant: "true"}, steps: [{setBody: {constant: any}}]}}]
- routeConfiguration:
    id: soft
    interceptFrom: [{interceptFrom: {uri: "platform-http:*", steps: [{setHeader: {name: in, constant: "1"}}]}}]
    onCompletion: [{onCompletion: {mode: BeforeConsumer, steps: [{setBody: {simple: "${body}!"}}]}}]
    errorHandler: {deadLetterChannel: {deadLetterUri: "direct:dead"}}
''',
        'routes.yaml': '''
- intercept: {steps: [{setHeader: {name: n, simple: "${header.n}i"}}]}
- interceptSendToEndpoint: {uri: "xslt:*", skipSendToOriginalEndpoint: true, steps: [{setBody: {constant: skipped}}]}
- route:
    from:
      uri: platform-http:/1
      steps: [{throwException: {exceptionType: java.io.IOException, message: x}}]
- route:
    routeConfigurationId: soft
    from:
      uri: platform-http:/2
      steps:
        - choice: {when: [{simple: "${header.bad} == null", steps: [{setBody: {constant: fine}}]}]}
        - filter: {simple: "${header.bad} != null", steps: [{throwException: {exceptionType: java.io.IOException, message: x}}]}
- from: {uri: "direct:dead", steps: [{setBody: {simple: "dead ${exception.message} ${header.in}"}}]}
- from: {uri: "platform-http:/3", steps: [{to: "xslt:s.xsl"}]}
- from: {uri: "platform-http:/4", steps: [{multicast: {aggregationStrategy: %s, steps: [{setBody: {constant: a}}, {setBody: {constant: b}}]}}]}
''' % STRING,
        's.xsl': '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/>',
    }
    with Broker(files, routes=['conf.yaml', 'routes.yaml']) as b:
        assert b.get('/1')[2] == b'any'
        got = b.get('/2')
        assert (got[2], got[1].get('n')) == (b'fine!', 'iii'), got
        assert b.get('/2?bad=1')[2] == b'dead x 1!'
        assert b.post('/3', '<a/>')[2] == b'skipped'
        got = b.get('/4')
        assert (got[2], got[1].get('n')) == (b'ab', 'ii'), got  # of the first branch
        assert b.stop() == 0


main(globals())
