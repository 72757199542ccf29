#!/usr/bin/env python3
"""from: kafka, on a real broker: what a record is as a message, groups, where they begin, offsets, failures, order, batches, status."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, Broker, env, free_port, main, until  # noqa: E402
from kafka import Kafka  # noqa: E402

K = None


def source(topic, **options):
    opts = {'brokers': K.brokers, 'autoOffsetReset': 'earliest'}
    opts.update(options)
    return {'uri': 'kafka:' + topic, 'parameters': opts}


def target(topic):
    return {'to': {'uri': 'kafka:' + topic, 'parameters': {'brokers': K.brokers}}}


def route(from_, *steps, id='r'):
    return {'route': {'id': id, 'from': dict(from_, steps=list(steps))}}


def broker(*routes, **kw):
    return Broker({'r.json.yaml': json.dumps(list(routes))}, **kw)


def completed(b):
    gens = b.status()['generations']
    return sum(g['completed'] for g in gens), sum(g['failed'] for g in gens)


def assigned(b, n, generation=None):
    """Waits until the workers have n partitions."""
    return until(lambda: len([s for s in b.status()['sources'] if generation in (None, s['generation'])]) == n, 20, '%d partitions' % n)


class Backend:
    """An HTTP server that notes who comes and goes; each request takes `delay(path)` seconds."""

    def __init__(self, delay=lambda path: 0, status=lambda path, n: 200):
        self.calls, self.running, self.most, self.lock, self.count = [], [], 0, threading.Lock(), {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                self.rfile.read(int(self.headers.get('Content-Length') or 0))
                with outer.lock:
                    outer.calls.append(('begin', self.path))
                    outer.running.append(self.path)
                    outer.most = max(outer.most, len(outer.running))
                    n = outer.count[self.path] = outer.count.get(self.path, 0) + 1
                time.sleep(delay(self.path))
                with outer.lock:
                    outer.calls.append(('end', self.path))
                    outer.running.remove(self.path)
                self.send_response(status(self.path, n))
                self.send_header('Content-Length', '0')
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *a):
                pass

        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()

    def paths(self, what='begin'):
        with self.lock:
            return [p for w, p in self.calls if w == what]


def call(backend, path='/${header.CamelKafkaKey}/${header.CamelKafkaOffset}'):
    return [{'setHeader': {'name': 'CamelHttpMethod', 'constant': 'POST'}},
            {'toD': 'http://127.0.0.1:%d%s' % (backend.port, path)}]


def test_headers():
    """Camel's names and types; a null key is no header, a null value a null body (B22)."""
    t, out = K.topic(), K.topic()
    check = [{'choice': {'when': [{'simple': '${body} == null', 'steps': [{'setBody': {'constant': 'TOMBSTONE'}}]},
                                  {'simple': "${body} == ''", 'steps': [{'setBody': {'constant': 'EMPTY'}}]}]}},
             {'setBody': {'simple': '${body};${header.CamelKafkaTopic};${header.CamelKafkaPartition};${header.CamelKafkaOffset};'
                                    '[${header.CamelKafkaKey}];${header.CamelKafkaTimestamp};${header.CamelMessageTimestamp}'}}]
    with broker(route(source(t, groupId='headers'), *check, target(out))) as b:
        K.produce(t, [('k1', None, 0), ('k1', '', 1), (None, 'v', 2), ('ключ', 'значение', 3)])
        got = sorted(r['value'] for r in K.consume(out, 4))
        b.stop()
    assert len(got) == 4, got
    fields = {g.split(';')[0]: g.split(';')[1:] for g in got}
    assert fields['TOMBSTONE'][:4] == [t, '0', '0', '[k1]'], got
    assert fields['EMPTY'][:4] == [t, '1', '0', '[k1]'], got
    assert fields['v'][:4] == [t, '2', '0', '[]'], got
    assert fields['значение'][3] == '[ключ]', got
    for f in fields.values():
        assert f[4] == f[5] and abs(int(f[4]) - time.time() * 1000) < 600000, got


def test_record_headers():
    """Headers of records are bytes, which act as text; Camel's own names come from no record. kafka_headers: both."""
    t, mid = K.topic(), K.topic()
    out = 'record-headers'
    first = route(source(t, groupId='h1', groupInstanceId='h1'), {'setHeader': {'name': 'tenant', 'constant': 'acme'}}, target(mid), id='first')
    second = route(source(mid, groupId='h2', groupInstanceId='h2'),
                   {'filter': {'simple': "${header.tenant} == 'acme'", 'steps': [
                       {'setBody': {'simple': '${header.tenant} ${headers[kafka.KEY]} ${headers[kafka.TOPIC]} ${headers[kafka.OFFSET]}'}},
                       target(out)]}}, id='second')
    for setting, want in ((), 'acme   '), (('kafka_headers=both',), 'acme k %s 1' % mid):
        K.topic(out)
        with broker(first, second, settings=setting) as b:
            K.produce(t, [('k', 'x', 0)])
            got = K.consume(out, 1)
            assert got[0]['value'] == want, (setting, got)
            b.stop()
        K.delete(out)


def test_deserializers():
    t, out = K.topic(), K.topic()
    prefix = 'org.apache.kafka.common.serialization.'
    bad = {'onException': {'exception': ['org.apache.kafka.common.errors.SerializationException'], 'handled': {'constant': 'true'},
                           'steps': [{'setBody': {'simple': 'poison ${header.CamelKafkaOffset} ${exception.message}'}}, target(out)]}}
    r = route(source(t, groupId='ser', valueDeserializer=prefix + 'IntegerDeserializer', keyDeserializer=prefix + 'ByteArrayDeserializer'),
              bad, {'setBody': {'simple': '${body}'}}, target(out))
    with broker(r) as b:
        K.produce(t, [('k', 'abcd', 0), ('k', 'abc', 0), ('k', 'efgh', 0)])
        got = [x['value'] for x in sorted(K.consume(out, 3), key=lambda x: x['timestamp'])]
        assert str(0x61626364) in got and str(0x65666768) in got, got
        poison = [g for g in got if g.startswith('poison')]
        assert len(poison) == 1 and poison[0].startswith('poison 1 Error deserializing key/value for partition %s-0 at offset 1' % t), got
        b.stop()
    assert K.committed('ser', t)[0] == 3


def test_groups_lists_patterns():
    """Members share the partitions; a list of topics; a pattern, also of topics that come later."""
    a, c = K.topic('list-a', 2), K.topic('list-b', 2)
    out = K.topic()
    r = route(source(a + ', ' + c, groupId='list', consumersCount=2), {'setBody': {'simple': '${header.CamelKafkaTopic} ${body}'}}, target(out))
    with broker(r) as b:
        for member in (0, 1):
            b.wait_line(r'route r: member %d has [123] partitions' % member, 20)
        K.produce(a, [(None, '1', 0), (None, '2', 1)])
        K.produce(c, [(None, '3', 0), (None, '4', 1)])
        assert sorted(x['value'] for x in K.consume(out, 4)) == ['list-a 1', 'list-a 2', 'list-b 3', 'list-b 4']
        b.stop()
    K.topic('pat-1', 1)
    K.topic('other', 1)
    out = K.topic()
    r = route(source('pat-\\d+', groupId='pat', topicIsPattern=True, metadataMaxAgeMs=500),
              {'setBody': {'simple': '${header.CamelKafkaTopic} ${body}'}}, target(out))
    with broker(r) as b:
        K.produce('pat-1', [(None, 'x')])
        K.produce('other', [(None, 'no')])
        assert [x['value'] for x in K.consume(out, 1)] == ['pat-1 x']
        K.topic('pat-22', 1)
        K.produce('pat-22', [(None, 'y')])
        assert sorted(x['value'] for x in K.consume(out, 2)) == ['pat-1 x', 'pat-22 y']
        b.stop()


def test_where_groups_begin():
    """latest: what comes from the start on, also when the worker dies before its first commit; seekTo; none."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    K.produce(t, [(None, 'old1'), (None, 'old2')])
    slow = {'delay': {'constant': '4000'}}
    with broker(route(source(t, groupId='latest', groupInstanceId='l', autoOffsetReset='latest'), slow, target(out))) as b:
        assigned(b, 1)
        assert K.committed('latest', t, 1) == [2]  # the place is kept before anything is done
        K.produce(t, [(None, 'new')])
        until(lambda: [s for s in b.status()['sources'] if s['in_flight'] == 1], 10, 'the record in flight')
        os.kill(b.workers('kafka')[0], 9)
        assert [x['value'] for x in K.consume(out, 1)] == ['new']
        b.stop()
    out = K.topic(None, 1)
    with broker(route(source(t, groupId='latest', groupInstanceId='l', seekTo='BEGINNING'), target(out))) as b:
        assert [x['value'] for x in K.consume(out, 3)] == ['old1', 'old2', 'new']
        # a worker that follows another one in the life of a broker goes on where that was
        os.kill(b.workers('kafka')[0], 9)
        K.produce(t, [(None, 'after')])
        until(lambda: 'after' in [x['value'] for x in K.consume(out, 20, 1)], 20, 'the record after the death')
        b.stop()
    n = len(K.consume(out, 20, 1))
    out = K.topic(None, 1)
    assert n <= 7, n
    with broker(route(source(t, groupId='latest', groupInstanceId='l', seekTo='END'), target(out))) as b:
        assigned(b, 1)
        until(lambda: K.committed('latest', t, 1) == [4], 10, 'the end is kept')
        K.produce(t, [(None, 'end')])
        assert [x['value'] for x in K.consume(out, 1)] == ['end']
        b.stop()
    with broker(route(source(t, groupId='none', autoOffsetReset='none'), target(out))) as b:
        b.wait_line(r'level=error.*route r: %s-0: .*offset' % t, 20)
        b.stop()


def test_offsets():
    """autoCommitEnable=false commits what is done at once, in order; at the end all is committed."""
    t = K.topic(None, 1)
    with Backend(delay=lambda p: 3 if p.endswith('/1') else 0) as backend:
        r = route(source(t, groupId='off', autoCommitEnable=False, keyOrder=False), *call(backend))
        with broker(r) as b:
            K.produce(t, [('k%d' % i, 'v') for i in range(4)])
            until(lambda: len(backend.paths('end')) == 3, 20, 'all but one')
            until(lambda: K.committed('off', t, 1) == [1], 5, 'the first is committed')
            assert '/k1/1' not in backend.paths('end')  # not beyond the one that is not done
            until(lambda: K.committed('off', t, 1) == [4], 10, 'all are committed')
            b.stop()
    t = K.topic(None, 1)
    with broker(route(source(t, groupId='auto', autoCommitIntervalMs=600000), {'log': '${body}'})) as b:
        K.produce(t, [(None, str(i)) for i in range(10)])
        until(lambda: completed(b)[0] == 10, 20, 'all records')
        assert K.committed('auto', t, 1) == [-1]
        b.stop()
    assert K.committed('auto', t, 1) == [10]


def test_break_on_first_error():
    """B21: stops at the failed record and takes it again; without it the next one comes."""
    t = K.topic(None, 1)
    K.produce(t, [('k', str(i)) for i in range(3)])
    with broker(route(source(t, groupId='brk', groupInstanceId='b'), {'log': 'x'})) as b:
        until(lambda: completed(b)[0] == 3, 20, 'the first three')
        b.stop()
    assert K.committed('brk', t, 1) == [3]
    K.produce(t, [('k', str(i)) for i in range(3, 10)])
    with Backend(status=lambda path, n: 500 if path == '/k/3' and n <= 2 else 200) as backend:
        r = route(source(t, groupId='brk', groupInstanceId='b', breakOnFirstError=True, autoCommitEnable=False), *call(backend))
        with broker(r) as b:
            until(lambda: K.committed('brk', t, 1) == [10], 30, 'all are committed')
            b.stop()
        assert backend.paths() == ['/k/%d' % i for i in (3, 3, 3, 4, 5, 6, 7, 8, 9)], backend.paths()
    with Backend(status=lambda path, n: 500 if path == '/k/3' else 200) as backend:
        with broker(route(source(t, groupId='brk2', autoCommitEnable=False), *call(backend))) as b:
            until(lambda: K.committed('brk2', t, 1) == [10], 30, 'all are committed')
            assert completed(b) == (9, 1)
            b.stop()
        assert backend.paths() == ['/k/%d' % i for i in range(10)], backend.paths()


def test_manual_commit():
    """A record that failed moves no offset until one after it has passed."""
    t = K.topic(None, 1)
    with Backend(status=lambda path, n: 500 if path in ('/k/1', '/k/3') else 200) as backend:
        r = route(source(t, groupId='man', autoCommitEnable=False, allowManualCommit=True), *call(backend))
        with broker(r) as b:
            K.produce(t, [('k', str(i)) for i in range(4)])
            until(lambda: len(backend.paths('end')) == 4, 20, 'all records')
            b.stop()
    assert K.committed('man', t, 1) == [3]


def test_batching():
    t, out = K.topic(None, 2), K.topic(None, 1)
    r = route(source(t, groupId='bat', batching=True, maxPollRecords=3, pollTimeoutMs=300),
              {'setBody': {'simple': '${body.size()} ${body[0][message][headers][CamelKafkaKey]} ${header.CamelKafkaTopic}'}}, target(out))
    with broker(r) as b:
        K.produce(t, [('k', 'v', 0)] * 4)
        got = [x['value'] for x in K.consume(out, 2)]
        b.stop()
    assert [g.split()[0] for g in got] in (['3', '1'], ['1', '3']) and got[0].split()[1:] == ['k', t], got
    assert K.committed('bat', t, 2)[0] == 4
    out = K.topic(None, 1)
    r = route(source(t, groupId='bat2', batching=True, maxPollRecords=10, pollTimeoutMs=300, breakOnFirstError=True),
              {'split': {'simple': '${body}', 'steps': [{'setBody': {'simple': '${body[message][body]}'}}, target(out)]}})
    with broker(r) as b:
        assert [x['value'] for x in K.consume(out, 4)] == ['v'] * 4
        b.stop()
    assert K.committed('bat2', t, 2)[0] == 4


def test_key_order():
    """Of one key one record after another, of several at the same time; keyOrder=false, maxInFlight=1."""
    t = K.topic(None, 1)
    K.produce(t, [('k%d' % (i % 4), str(i)) for i in range(24)] + [(None, 'n%d' % i) for i in range(3)])

    def run(group, **options):
        with Backend(delay=lambda p: 0.02 + (hash(p) % 7) / 100) as backend:
            path = '/key${header.CamelKafkaKey}/${header.CamelKafkaOffset}'
            with broker(route(source(t, groupId=group, **options), *call(backend, path))) as b:
                until(lambda: len(backend.paths('end')) == 27, 60, 'all records')
                b.stop()
            return backend
    b = run('ko')
    assert b.most > 1, b.most
    open_keys = set()
    for what, path in b.calls:
        key = path.split('/')[1]
        if what == 'begin':
            assert key not in open_keys, (path, b.calls)
            open_keys.add(key)
        else:
            open_keys.discard(key)
    for k in ('keyk0', 'keyk1', 'keyk2', 'keyk3', 'key'):
        offsets = [int(p.split('/')[2]) for p in b.paths() if p.split('/')[1] == k]
        assert offsets == sorted(offsets), (k, offsets)
    none = [i for i, (what, p) in enumerate(b.calls) if p.startswith('/key/') and what == 'begin']
    done = [i for i, (what, p) in enumerate(b.calls) if not p.startswith('/key/') and what == 'end']
    assert min(none) > max(done), b.calls  # without a key: all before it
    assert run('ko1', maxInFlight=1).most == 1
    b = run('kof', keyOrder=False)
    assert b.most > 4, b.most


def test_kafka_order():
    """Records that take different times on their way to a topic get there in the order that they came in."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    n = 300
    K.produce(t, [('k%d' % (i % 5), str(i)) for i in range(n)])
    r = route(source(t, groupId='ord'), {'delay': {'simple': '${random(0,30)}'}},
              {'filter': {'simple': '${body} != 7', 'steps': [target(out)]}})
    with broker(r) as b:
        got = [int(x['value']) for x in K.consume(out, n - 1)]
        b.stop()
    assert got == [i for i in range(n) if i != 7], got
    assert K.committed('ord', t, 1) == [n]


def test_backlog():
    """Little is fetched ahead, and more of it in time: neither a backlog in small batches waits, nor the one partition that has something."""
    for keys in 1, 1000:
        t, out = K.topic(), K.topic()
        K.produce(t, [('k%d' % (i % keys), 'x' * 300) for i in range(40000)])
        with broker(route(source(t, groupId='bl%d' % keys), target(out))) as b:
            assigned(b, 4)
            until(lambda: sum(K.end(out)) == 40000, 12, '40,000 records')
            b.stop()


def test_slow_records():
    """A record that takes longer than maxPollIntervalMs and sessionTimeoutMs costs the member nothing; the others go on."""
    t = K.topic(None, 2)
    with Backend(delay=lambda p: 9 if p == '/slow/0' else 0) as backend:
        r = route(source(t, groupId='slow', sessionTimeoutMs=6000, heartbeatIntervalMs=1000, maxPollIntervalMs=6000), *call(backend))
        with broker(r) as b:
            K.produce(t, [('slow', 'x', 0), ('a', 'x', 0), ('b', 'x', 1)])
            until(lambda: len(backend.paths('end')) == 3, 30, 'all records')
            assert sorted(backend.paths()) == ['/a/1', '/b/0', '/slow/0'], backend.calls
            assert not [line for line in b.lines if 'lost' in line or 'max.poll' in line], b.log()
            assert len([line for line in b.lines if 'partitions"' in line]) == 1, b.log()
            b.stop()


def test_killed_and_reloaded():
    """A killed or reloaded worker has its partitions back within 2 s; in the hand-over nothing is lost or repeated."""
    t, out = K.topic(), K.topic()
    files = {'r.yaml': json.dumps([route(source(t, groupId='kill'), target(out))])}
    with Broker(files) as b:
        assigned(b, 4)
        K.produce(t, [('a', '0')])
        assert len(K.consume(out, 1)) == 1
        for i in range(3):
            old = b.workers('kafka')[0]
            os.kill(old, 9)
            began = time.monotonic()
            until(lambda: b.workers('kafka') not in ([], [old]) and len(b.status()['sources']) == 4, 20, 'its partitions')
            took = time.monotonic() - began
            assert took < 2 * SLOW, took
        for i in range(3):
            b.write('r.yaml', json.dumps([route(source(t, groupId='kill'), {'setHeader': {'name': 'n', 'constant': str(i)}}, target(out))]))
            before = b.status()['generation']
            began = time.monotonic()
            b.hinny('reload', check=True)
            gen = until(lambda: b.status()['generation'] != before and b.status()['generation'], 20, 'the new generation')
            assigned(b, 4, gen)
            took = time.monotonic() - began
            assert took < 2 * SLOW, took
        stop = threading.Event()
        sent = []

        def load():
            i = 0
            while not stop.is_set():
                K.produce(t, [('k%d' % (j % 7), 'm%d' % (i + j)) for j in range(100)])
                sent.extend('m%d' % (i + j) for j in range(100))
                i += 100
        th = threading.Thread(target=load)
        th.start()
        for i in range(3):
            time.sleep(0.5)
            b.write('r.yaml', json.dumps([route(source(t, groupId='kill'), {'setHeader': {'name': 'n', 'constant': 'x%d' % i}}, target(out))]))
            b.hinny('reload', check=True)
        time.sleep(0.5)
        stop.set()
        th.join()
        until(lambda: sum(K.end(out)) >= sum(K.end(t)), 30, 'all records')
        b.stop()
    got = [x['value'] for x in K.consume(out, sum(K.end(out))) if x['value'].startswith('m')]
    assert set(got) == set(sent), (len(set(got)), len(sent))
    assert len(got) == len(sent), 'repeated: %d' % (len(got) - len(sent))


def test_rebalance():
    """Another member comes: what is in flight of the partitions that go is finished and committed first."""
    t = K.topic(None, 2)
    with Backend(delay=lambda p: 1.5) as backend:
        r = route(source(t, groupId='reb', autoCommitIntervalMs=600000), *call(backend))
        with broker(r) as one:
            assigned(one, 2)
            K.produce(t, [('a', 'x', 0), ('b', 'x', 1)])
            until(lambda: len(backend.paths()) == 2, 20, 'both in flight')
            with broker(r) as two:
                assigned(two, 1)
                assigned(one, 1)
                assert sorted(K.committed('reb', t, 2)) == [1, 1]
                K.produce(t, [('a', 'x', 0), ('b', 'x', 1)])
                until(lambda: len(backend.paths('end')) == 4, 20, 'the next ones')
                two.stop()
            one.stop()
        assert sorted(backend.paths()) == ['/a/0', '/a/1', '/b/0', '/b/1'], backend.calls


def test_status():
    t = K.topic(None, 2)
    with Backend(delay=lambda p: 2) as backend:
        with broker(route(source(t, groupId='sta'), *call(backend), id='reader')) as b:
            K.produce(t, [('a', str(i), 1) for i in range(3)])

            def look():
                s = {x['partition']: x for x in b.status()['sources']}
                return len(s) == 2 and s[1]['in_flight'] == 3 and s[1]['lag'] == 3 and s
            s = until(look, 20, 'three in flight')
            assert (s[1]['route'], s[1]['topic'], s[1]['worker'], s[1]['end'], s[0]['in_flight']) == ('reader', t, 'kafka.0', 3, 0), s
            text = b.hinny('status', check=True)[1]
            assert 'LAG' in text and t in text, text
            until(lambda: [x for x in b.status()['sources'] if x['partition'] == 1][0]['lag'] == 0, 30, 'no lag')
            b.stop()


def test_what_goes_wrong():
    """An unknown topic and a broker that is not there are told, and others go on; the topic is read when it is there."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    late = 'late-topic'
    bad = {'uri': 'kafka:x', 'parameters': {'brokers': '127.0.0.1:%d' % free_port()}}
    with broker(route(source(late, groupId='late'), target(out), id='late'), route(bad, target(out), id='away'),
                route(source(t, groupId='good'), target(out), id='good')) as b:
        K.produce(t, [(None, 'good')])
        assert [x['value'] for x in K.consume(out, 1)] == ['good']
        b.wait_line(r'level=error.*route late: .*%s' % late, 20)
        b.wait_line(r'level=warning.*route away: ', 20)
        K.topic(late, 1)
        K.produce(late, [(None, 'late')])
        assert sorted(x['value'] for x in K.consume(out, 2, 40)) == ['good', 'late']
        b.stop()


def test_run_again():
    """hinny run with a run folder of its own, ended and begun again: it is the same member, and does not wait for a session to end; two at a time are two."""
    t = K.topic(None, 2)
    with tempfile.TemporaryDirectory(prefix='ht-') as folder:
        with open(os.path.join(folder, 'r.yaml'), 'w') as f:
            f.write(json.dumps([route(source(t, groupId='again-%d' % os.getpid(), sessionTimeoutMs=30000), {'log': 'got ${body}'})]))

        runs = []

        class Run:
            def __init__(self):
                self.proc = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'run', '--no-watch', '--port', str(free_port()), 'r.yaml'], cwd=folder,
                                             env=dict(env(), XDG_RUNTIME_DIR=folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True)
                self.lines = []
                runs.append(self)
                threading.Thread(target=lambda: self.lines.extend(iter(self.proc.stdout.readline, '')), daemon=True).start()

            def wait(self, text):
                try:
                    until(lambda: [line for line in self.lines if text in line], 15, text)
                except AssertionError as e:
                    raise AssertionError('%s: %s' % (e, self.lines))

            def end(self):
                self.proc.send_signal(15)
                self.proc.wait(20 * SLOW)

            def kill(self):
                if self.proc.poll() is None:
                    self.proc.kill()
                    self.proc.wait()
        try:
            one = Run()
            one.wait('has 2 partitions')
            K.produce(t, [(None, 'first')])
            one.wait('got first')
            two = Run()
            two.wait('has 1 partitions')
            one.wait('has 1 partitions')
            for run in one, two:
                run.end()
            K.produce(t, [(None, 'second', 0), (None, 'third', 1)])
            one, two = Run(), Run()
            for run in one, two:
                run.wait('has 1 partitions')
            until(lambda: len([x for x in one.lines + two.lines if 'got second' in x or 'got third' in x]) == 2, 15, 'both records')
            for run in one, two:
                run.end()
        finally:
            for run in runs:
                run.kill()


def test_topic_deleted_and_back():
    """A topic that goes while it is read is told; when it is there again it is read, also by a client that was made anew for it."""
    t, out = K.topic(None, 2), K.topic(None, 1)

    def reads(id, **options):
        return route(source(t, groupId='del-' + id, metadataMaxAgeMs=500, **options), {'filter': {'simple': '${body} starts with \'new\'', 'steps': [
            {'setBody': {'constant': id}}, target(out)]}}, id=id)
    with broker(reads('goes-on'), reads('anew', pollOnError='RECONNECT')) as b:
        assigned(b, 4)
        K.produce(t, [(None, 'old %d' % i) for i in range(20000)])
        K.delete(t)
        b.wait_line(r'route anew: member 0 of its consumer begins anew: .*[Uu]nknown topic', 20)
        b.wait_line(r'level=error.*route goes-on: .*%s.*[Uu]nknown topic' % t, 20)
        until(lambda: not b.status()['sources'], 20, 'no partitions')
        K.topic(t, 2)
        K.produce(t, [(None, 'new')])
        assert sorted(x['value'] for x in K.consume(out, 2, 60)) == ['anew', 'goes-on'], b.log()[-3000:]
        b.stop()


def test_wrong_credentials():
    """Told with the reason; other routes go on; with the right ones it works."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    sasl = {'brokers': '127.0.0.1:%d' % K.sasl_port, 'securityProtocol': 'SASL_PLAINTEXT', 'saslMechanism': 'PLAIN', 'saslUsername': 'alice'}
    with broker(route(source(t, groupId='wrong', saslPassword='{{guess}}', **sasl), target(out), id='wrong'),
                route(source(t, groupId='right', saslPassword='{{secret}}', **sasl), target(out), id='right'),
                properties=['secret=alice-secret', 'guess=no']) as b:
        K.produce(t, [(None, 'x')])
        assert [x['value'] for x in K.consume(out, 1)] == ['x']
        b.wait_line(r'level=error.*route wrong: .*[Aa]uthentication', 20)
        assert 'alice-secret' not in b.log()
        b.stop()


def test_large_records():
    """A record larger than what is fetched at a time comes all the same, and is passed on."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    big = 'x' * 900000
    with broker(route(source(t, groupId='big'), {'setHeader': {'name': 'n', 'simple': '${body.length()}'}}, target(out))) as b:
        K.produce(t, [('a', 'small'), ('a', big), ('a', 'small')])
        got = K.consume(out, 3)
        assert [len(x['value']) for x in got] == [5, 900000, 5]
        b.stop()


def test_cooperative():
    """Members come and go one partition at a time: each record arrives once."""
    t, out = K.topic(), K.topic()
    r = route(source(t, groupId='coop', partitionAssignor='CooperativeStickyAssignor', sessionTimeoutMs=6000, heartbeatIntervalMs=500), target(out))
    n = 0

    def more():
        nonlocal n
        K.produce(t, [('k%d' % i, 'm%d' % (n + i), i % 4) for i in range(400)])
        n += 400
    with broker(r) as one:
        assigned(one, 4)
        more()
        with broker(r) as two:
            more()
            until(lambda: len(one.status()['sources']) == 2 and len(two.status()['sources']) == 2, 40, 'two each')
            more()
            until(lambda: sum(K.end(out)) >= n, 20, 'all')
            two.stop()
        more()
        until(lambda: sum(K.end(out)) >= n, 40, 'all, when the other has gone')
        one.stop()
    got = sorted(x['value'] for x in K.consume(out, sum(K.end(out))))
    assert got == sorted('m%d' % i for i in range(n)), len(got)


def test_reload_while_a_record_fails():
    """breakOnFirstError: the next generation takes the failed record, nothing behind it was committed."""
    t = K.topic(None, 1)
    healthy = threading.Event()
    with Backend(status=lambda path, n: 200 if healthy.is_set() or path != '/k/2' else 500) as backend:
        files = {'r.yaml': json.dumps([route(source(t, groupId='rbk', breakOnFirstError=True), *call(backend))])}
        with Broker(files) as b:
            K.produce(t, [('k', str(i)) for i in range(5)])
            until(lambda: backend.paths().count('/k/2') > 1, 20, 'the record fails')
            b.write('r.yaml', json.dumps([route(source(t, groupId='rbk', breakOnFirstError=True), {'log': 'new'}, *call(backend))]))
            b.hinny('reload', check=True)
            until(lambda: K.committed('rbk', t, 1) == [2], 20, 'what is before it')
            b.wait_line('msg=new', 20)
            healthy.set()
            until(lambda: len([p for p in backend.paths('end') if p == '/k/4']) == 1, 20, 'the last one')
            b.stop()
        assert K.committed('rbk', t, 1) == [5]
        got = backend.paths()
        assert [p for i, p in enumerate(got) if i == 0 or got[i - 1] != p] == ['/k/%d' % i for i in range(5)], got


def test_supervisor_killed():
    """The worker finishes and commits what is in flight; who comes next repeats nothing."""
    t = K.topic(None, 1)
    with Backend(delay=lambda p: 1) as backend:
        r = route(source(t, groupId='orphan', groupInstanceId='o', autoCommitIntervalMs=600000), *call(backend))
        with broker(r) as b:
            assigned(b, 1)
            K.produce(t, [('k', '1')])
            until(lambda: len(backend.paths()) == 1, 20, 'in flight')
            os.kill(b.proc.pid, 9)
            until(lambda: K.committed('orphan', t, 1) == [1], 20, 'it is committed')
        assert backend.paths() == ['/k/0'], backend.calls


def test_drain_and_back():
    t, out = K.topic(None, 1), K.topic(None, 1)
    with broker(route(source(t, groupId='drain'), target(out))) as b:
        K.produce(t, [(None, '1')])
        assert len(K.consume(out, 1)) == 1
        b.hinny('drain', check=True)
        until(lambda: not b.status()['sources'], 20, 'nothing is read')
        assert K.committed('drain', t, 1) == [1]
        K.produce(t, [(None, '2')])
        b.hinny('reload', check=True)
        assert [x['value'] for x in K.consume(out, 2)] == ['1', '2']
        b.stop()


def test_two_of_one_name():
    """Another client with the groupInstanceId: told, and not fought for."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    r = route(source(t, groupId='fence', groupInstanceId='same'), target(out))
    with broker(r) as one:
        assigned(one, 1)
        with broker(r) as two:
            assigned(two, 1)
            one.wait_line(r'level=error.*route r: .*[Ff]ence', 30)
            until(lambda: not one.status()['sources'], 20, 'the first one has given up')
            K.produce(t, [(None, 'x')])
            assert [x['value'] for x in K.consume(out, 1)] == ['x']
            two.stop()
        one.stop()


def test_poll_on_error():
    t = K.topic(None, 1)
    prefix = 'org.apache.kafka.common.serialization.'
    for what, want in ('DISCARD', [3]), ('STOP', [1]), ('RETRY', [1]):
        group = 'poe-' + what
        with broker(route(source(t, groupId=group, valueDeserializer=prefix + 'IntegerDeserializer', pollOnError=what, autoCommitEnable=False),
                          {'log': '${body}'})) as b:
            if what == 'DISCARD':
                K.produce(t, [('k', 'abcd'), ('k', 'abc'), ('k', 'efgh')])
            until(lambda: K.committed(group, t, 1) == want, 20, '%s: committed %s' % (what, want))
            b.wait_line('Error deserializing key/value for partition %s-0 at offset 1' % t)
            if what == 'STOP':
                until(lambda: not b.status()['sources'], 20, 'it stops')
            b.stop()
            assert K.committed(group, t, 1) == want, what


if __name__ == '__main__':
    with Kafka(sasl=True) as K:
        main(globals())
