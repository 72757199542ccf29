#!/usr/bin/env python3
"""aggregate: groups that two http workers share, groups of a file's lines, time-outs, reloads, the end of the broker, bounds."""
import os
import signal
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SANITIZED, SLOW, Broker, main, setting, until

TEXT = {'Content-Type': 'text/plain'}
TWO = ('workers.http.instances=2',)
APPEND = 'to: {uri: "file:out", parameters: {fileName: %s, fileExist: Append, appendChars: "\\\\n"}}'
CLASS = '#class:org.apache.camel.processor.aggregate.%sAggregationStrategy'
JOINED = '- beans: [{name: joined, type: %s, properties: {delimiter: " "}}]\n' % (CLASS % 'String')[7:]


def aggregate(indent, out='groups', key='header.k', strategy='joined', steps='', body='${body}', more=''):
    """The step, with what its groups are written to."""
    text = ('- aggregate:\n'
            '    correlationExpression: {simple: "${%s}"}\n'
            '    aggregationStrategy: "%s"\n'
            '    %s\n'
            '    steps:\n'
            '%s'
            '      - setBody: {simple: "%s"}\n'
            '      - %s\n' % (key, strategy, more, steps, body, APPEND % out))
    return ''.join(' ' * indent + line + '\n' for line in text.splitlines())


def http(path, *steps):
    return '- from:\n    uri: platform-http:%s\n    steps:\n%s' % (path, ''.join(steps))


def read(b, name='groups'):
    try:
        with open(os.path.join(b.folder, 'out', name)) as f:
            return f.read().split('\n')[:-1]
    except FileNotFoundError:
        return []


def send(b, key, text, status=200):
    assert b.post('/go?k=%s' % key, text.encode(), TEXT)[0] == status


def flood(b, messages, keys, threads=8, note=None):
    """messages of ids 0 .. messages - 1, from several connections at a time; returns those that were answered 200."""
    taken, lock, ids = [], threading.Lock(), iter(range(messages))

    def run():
        while True:
            with lock:
                i = next(ids, None)
            if i is None:
                return
            if b.post('/go?k=%d' % (i % keys), b'%d' % i, TEXT)[0] == 200:
                with lock:
                    taken.append(i)
    running = [threading.Thread(target=run) for _ in range(threads)]
    for t in running:
        t.start()
    return running, taken


def ids(lines):
    return sorted(int(i) for line in lines for i in line.split())


def test_two_workers_share_groups():
    n = setting('MESSAGES', 1000)
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 10'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        assert len(b.workers('http')) == 2
        running, taken = flood(b, n, 5)
        for t in running:
            t.join()
        assert len(taken) == n
        until(lambda: len(read(b)) == n // 10, 10, 'all groups')
        for line in read(b):
            group = [int(i) for i in line.split()]
            assert len(group) == 10 and len({i % 5 for i in group}) == 1, line
        assert ids(read(b)) == list(range(n))


def test_the_message_goes_on():
    routes = JOINED + http('/go', aggregate(6, body='${body} ${header.h} ${exchangeProperty.CamelAggregatedSize}', more='completionSize: 2'),
                           '      - setBody: {simple: "${body} ${header.h} [${exchangeProperty.CamelAggregatedSize}]"}\n')
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        assert b.post('/go?k=a&h=1', b'x', TEXT)[2] == b'x 1 []'
        assert b.post('/go?k=a&h=2', b'y', TEXT)[2] == b'y 2 []'
        until(lambda: read(b) == ['x y 1 2'], 10)


def test_large_bodies():
    size = 300000
    routes = JOINED + http('/go', aggregate(6, strategy=CLASS % 'GroupedBody', body='${body.size} ${body[0].length} ${body[2]}', more='completionSize: 3'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        send(b, 'a', 'x' * size)
        b.hinny('reload', '--wait', check=True)
        send(b, 'a', 'y' * (size + 1))
        b.hinny('reload', '--wait', check=True)
        send(b, 'a', 'z')
        until(lambda: read(b), 10)
        assert read(b) == ['3 %d z' % size], read(b)[0][:100]


def test_lists_of_messages():
    routes = ''
    for path, strategy, body in (
            ('/exchanges', 'GroupedExchange', '${body.size} ${body[0].body} ${body[1].message.body} ${body[0].in.getHeader(\'k\')} ${body[0].headers[k]} ${body[0].getMessage().getBody()} ${body}'),
            ('/messages', 'GroupedMessage', '${body.size()} ${body[0].body} ${body[last].getHeader(\'k\')} ${size(${body})} ${body}'),
            ('/bodies', 'GroupedBody', '${body.size} ${body[0]} ${body[1]} ${join(+)} ${body}')):
        routes += http(path, aggregate(6, out=path[1:], strategy=CLASS % strategy, body=body, more='completionSize: 2'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        for path in '/exchanges', '/messages', '/bodies':
            assert b.post(path + '?k=7', b'x', TEXT)[0] == 200
            b.hinny('reload', '--wait', check=True)
            assert b.post(path + '?k=7', b'y', TEXT)[0] == 200
        group = 'List<Exchange>(2 elements)'
        until(lambda: read(b, 'exchanges') == ['2 x y 7 7 x ' + group], 10)
        until(lambda: read(b, 'messages') == ['2 x 7 2 ' + group], 10)
        until(lambda: read(b, 'bodies') == ['2 x y x+y ' + group], 10)


def test_slow_steps_hold_the_source_back():
    lines = 3000
    routes = ('- from:\n    uri: file:in?delete=true&initialDelay=0&delay=50\n    steps:\n'
              '      - split:\n          tokenize: "\\n"\n          steps:\n' +
              aggregate(12, key='routeId', strategy=CLASS % 'GroupedBody', steps='      - delay: {constant: "1"}\n', body='${body[0]}', more='completionSize: 1'))
    with Broker({'r.yaml': routes, 'in/a': '\n'.join(str(i) for i in range(lines))}, settings=('aggregate.max_groups=2000',)) as b:
        until(lambda: len(read(b)) == lines, 40, 'all groups')
        assert read(b) == [str(i) for i in range(lines)]
        assert 'max_groups' not in b.log()


def test_lines_of_a_file_need_no_other_worker():
    lines = 5000
    routes = JOINED + ('- from:\n    uri: file:in?delete=true&initialDelay=0&delay=50\n    steps:\n'
                       '      - split:\n          tokenize: "\\n"\n          streaming: true\n          steps:\n' +
                       aggregate(12, key='substringBefore(;)', strategy=CLASS % 'GroupedBody',
                                 body='${body.size} ${body[0]} ${exchangeProperty.CamelAggregatedCorrelationKey}',
                                 more='completionSize: 100'))
    with Broker({'r.yaml': routes, 'in/a.csv': '\n'.join('%d;line %d' % (i % 10, i) for i in range(lines))}) as b:
        until(lambda: len(read(b)) == lines // 100, 20, 'all groups')
        assert b.workers('flow') == [] and len(b.workers('file')) == 1
        assert sorted(read(b))[0] == '100 0;line 0 0'
        assert all(line.startswith('100 ') for line in read(b))


def test_reload_while_a_file_is_split():
    lines = 400
    routes = JOINED + ('- from:\n    uri: file:in?delete=true&initialDelay=0&delay=50\n    steps:\n'
                       '      - split:\n          tokenize: "\\n"\n          steps:\n'
                       '            - delay: {constant: "3"}\n' + aggregate(12, key='routeId', more='completionSize: 25'))
    with Broker({'r.yaml': routes, 'in/a': '\n'.join(str(i) for i in range(lines))}) as b:
        until(lambda: read(b), 10)
        for _ in range(3):
            b.hinny('reload', check=True)
        until(lambda: len(read(b)) == lines // 25, 20, 'all groups')
        assert [int(i) for line in read(b) for i in line.split()] == list(range(lines)), 'in order'


def test_timer_at_home():
    routes = JOINED + ('- from:\n    uri: timer:t?period=10&delay=0&repeatCount=20&includeMetadata=true\n    steps:\n'
                       '      - setBody: {simple: "${exchangeProperty.CamelTimerCounter}"}\n' +
                       aggregate(6, key='routeId', more='completionInterval: 150'))
    with Broker({'r.yaml': routes}) as b:
        until(lambda: ids(read(b)) == list(range(1, 21)), 10)
        assert len(read(b)) < 15, read(b)


def test_time_out_is_in_time():
    routes = JOINED + http('/go', aggregate(6, body='${body} ${exchangeProperty.CamelAggregatedCompletedBy} ${exchangeProperty.CamelAggregatedTimeout}',
                                            more='completionTimeout: 1000\n    completionTimeoutCheckerInterval: 50'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        for i in range(4):
            send(b, 'a', str(i))
            time.sleep(0.1)
        last = time.monotonic() - 0.1
        until(lambda: read(b), 10)
        took = time.monotonic() - last
        assert read(b) == ['0 1 2 3 timeout 1000']
        assert 0.95 < took < 1 + 0.05 + 0.7 * SLOW, took


def test_reload_does_not_restart_a_time_out():
    seconds = 6 if SANITIZED else 2
    routes = JOINED + http('/go', aggregate(6, more='completionTimeout: %ds\n    completionTimeoutCheckerInterval: 10' % seconds))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        started = time.monotonic()
        send(b, 'a', 'x')
        sent = time.monotonic()
        for _ in range(2):
            time.sleep(0.5)
            b.hinny('reload', '--wait', check=True)
        until(lambda: read(b) == ['x'], 10)
        done = time.monotonic()
        assert done - started > seconds - 0.05, 'it is the whole time'
        assert done - sent < seconds + 0.9 * SLOW, 'and no more'


def test_reloads_under_load_lose_nothing():
    n = setting('MESSAGES', 2000)
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 7'))
    routes += http('/all', '      - setHeader: {name: CamelAggregationCompleteAllGroups, constant: "true"}\n      - to: direct:all\n')
    routes = routes.replace('- from:\n    uri: platform-http:/go\n    steps:\n', '- from:\n    uri: platform-http:/go\n    steps: [{to: "direct:all"}]\n'
                            '- from:\n    uri: direct:all\n    steps:\n', 1)
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        running, taken = flood(b, n, 11)
        reloads = 0
        while any(t.is_alive() for t in running):
            b.hinny('reload', '--wait', check=True)
            reloads += 1
        for t in running:
            t.join()
        assert b.post('/all', b'', TEXT)[0] < 300
        until(lambda: len(ids(read(b))) >= len(taken), 20, 'all messages')
        print('%d reloads, %d messages, %d groups' % (reloads, len(taken), len(read(b))))
        assert len(taken) == n, 'no request fails'
        assert ids(read(b)) == sorted(taken)
        for line in read(b):
            assert len({int(i) % 11 for i in line.split()}) == 1, line


def test_reloads_while_completed_groups_wait():
    n = setting('MESSAGES', 400)
    routes = JOINED + http('/go', aggregate(6, steps='      - delay: {constant: "5"}\n',
                                            more='completionSize: 3\n    completionTimeout: 300\n    completionTimeoutCheckerInterval: 20'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        running, taken = flood(b, n, 7)
        reloads = 0
        while any(t.is_alive() for t in running) or reloads < 5:
            b.hinny('reload', '--wait', check=True)
            reloads += 1
        for t in running:
            t.join()
        until(lambda: len(ids(read(b))) >= n, 20, 'all messages')
        assert ids(read(b)) == sorted(taken) == list(range(n)), 'each once'
        time.sleep(0.5)
        assert len(ids(read(b))) == n


def test_groups_of_a_step_that_is_gone():
    before = JOINED + http('/go', aggregate(6, more='completionSize: 100'))
    with Broker({'r.yaml': before}, settings=TWO) as b:
        send(b, 'a', 'x')
        send(b, 'b', 'y')
        b.write('r.yaml', http('/go', '      - setBody: {constant: none}\n'))
        b.hinny('reload', '--wait', check=True)
        until(lambda: sorted(read(b)) == ['x', 'y'], 10, 'they were completed')


def test_options_change():
    with Broker({'r.yaml': JOINED + http('/go', aggregate(6, more='completionSize: 100'))}, settings=TWO) as b:
        send(b, 'a', 'x')
        send(b, 'a', 'y')
        b.write('r.yaml', http('/go', aggregate(6, strategy=CLASS % 'GroupedBody', body='${body.size} ${body[1]}', more='completionSize: 3')))
        b.hinny('reload', '--wait', check=True)
        send(b, 'a', 'z')
        until(lambda: read(b) == ['2 z'], 10, 'the text of the first two is one item')


def test_end_of_the_broker():
    """Case B25."""
    for option, groups in (('completeAllOnStop', ['1 2', '3']), ('forceCompletionOnStop', ['1 2', '3']), (None, [])):
        more = 'completionInterval: 60000' + ('\n    %s: true' % option if option else '')
        with Broker({'r.yaml': JOINED + http('/go', aggregate(6, more=more))}, settings=TWO) as b:
            send(b, '1', '1')
            send(b, '1', '2')
            send(b, '2', '3')
            started = time.monotonic()
            assert b.stop(40) == 0, b.log()
            assert time.monotonic() - started < 30 * SLOW, 'well before the interval'
            assert sorted(read(b)) == groups, (option, read(b))
            if option is None:
                b.wait_line('groups that were not complete are lost: 2, with messages: 3')
            else:
                assert 'are lost' not in b.log()


def test_keys_that_are_none():
    """Case B25."""
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 2')) + http('/skip', aggregate(
        6, out='skip', more='completionSize: 2\n    ignoreInvalidCorrelationKeys: true'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        assert b.post('/go', b'x', TEXT)[0] == 500
        assert b.post('/go?k=', b'x', TEXT)[0] == 500
        assert b.post('/go?k=%20', b'x', TEXT)[0] == 500
        b.wait_line('Invalid correlation key')
        assert b.post('/skip', b'x', TEXT)[0] == 200
        assert b.post('/skip?k=a', b'x', TEXT)[0] == 200
        assert b.post('/skip?k=a', b'y', TEXT)[0] == 200
        until(lambda: read(b, 'skip') == ['x y'], 10)


def test_closed_keys():
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 2\n    closeCorrelationKeyOnCompletion: 10'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        send(b, 'a', '1')
        send(b, 'a', '2')
        send(b, 'a', '3', 500)
        b.wait_line(r'ClosedCorrelationKeyException.*\[a\] has been closed')
        b.hinny('reload', '--wait', check=True)
        send(b, 'a', '3', 500)
        send(b, 'b', '1')


def test_errors_in_the_steps():
    fails = '      - filter: {simple: "${body} contains \'bad\'", steps: [{throwException: {exceptionType: java.io.IOException, message: no}}]}\n'
    handler = ('- onException:\n    exception: [java.io.IOException]\n    handled: {constant: "true"}\n'
               '    steps:\n      - %s\n' % (APPEND % 'failed'))
    routes = JOINED + http('/go', aggregate(6, steps=fails, more='completionSize: 2'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        for text in 'bad', 'x', 'y', 'z':
            send(b, 'a', text)
        until(lambda: read(b) == ['y z'], 10)
        b.wait_line('java.io.IOException: no')
    with Broker({'r.yaml': handler + routes}, settings=TWO) as b:
        for text in 'bad', 'x', 'y', 'z':
            send(b, 'a', text)
        until(lambda: read(b) == ['y z'] and read(b, 'failed') == ['bad x'], 10)


def test_completed_groups_run_in_order():
    steps = '      - delay: {constant: "50"}\n'
    routes = JOINED + http('/go', aggregate(6, steps=steps, more='completionSize: 1')) + http(
        '/many', aggregate(6, out='many', steps=steps, more='completionSize: 1\n    parallelProcessing: true'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        started = time.monotonic()
        for i in range(10):
            send(b, 'a', str(i))
        until(lambda: len(read(b)) == 10, 10)
        assert read(b) == [str(i) for i in range(10)]
        assert time.monotonic() - started > 0.45
        for i in range(10):
            assert b.post('/many?k=a', b'%d' % i, TEXT)[0] == 200
        until(lambda: len(read(b, 'many')) == 10, 10)


def test_bounds():
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 1000'))
    with Broker({'r.yaml': routes}, settings=TWO + ('aggregate.max_groups=3', 'aggregate.max_bytes=1MiB')) as b:
        for key in 'abc':
            send(b, key, 'x')
        send(b, 'd', 'x', 500)
        b.wait_line('aggregate.max_groups')
        statuses = [b.post('/go?k=a', b'y' * 50000, TEXT)[0] for _ in range(40)]
        assert statuses[:8] == [200] * 8 and statuses[-1] == 500, statuses
        b.wait_line('aggregate.max_bytes')
        assert b.post('/go?k=b', b'x', TEXT)[0] == 200, 'a small one still fits'


def test_a_dead_owner_costs_its_groups_only():
    routes = JOINED + http('/go', aggregate(6, more='completionSize: 2'))
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        send(b, 'a', 'x')
        owner = b.workers('flow')
        assert len(owner) == 1
        os.kill(owner[0], signal.SIGKILL)
        until(lambda: b.workers('flow') not in ([], owner), 10, 'another owner')
        until(lambda: b.post('/go?k=b', b'1', TEXT)[0] == 200, 10)
        until(lambda: b.post('/go?k=b', b'2', TEXT)[0] == 200, 10)
        until(lambda: any(line in ('1 2', '1 1', '2 2') for line in read(b)), 10)


def test_split_with_an_owner_elsewhere():
    n = 300
    routes = JOINED + http('/go', '      - split:\n          tokenize: ","\n          steps:\n' +
                           aggregate(12, key='exchangeProperty.CamelSplitSize', more='completionSize: %d' % n),
                           '      - setBody: {constant: done}\n')
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        assert b.post('/go', ','.join(str(i) for i in range(n)).encode(), TEXT)[2] == b'done'
        until(lambda: read(b) == [' '.join(str(i) for i in range(n))], 10)


if __name__ == '__main__':
    main(globals())
