#!/usr/bin/env python3
"""kafka: options that a broker or the clock shows: compression, acknowledgements, transactions of others, lingering, partitions, time limits, keys and headers."""
import json
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SLOW, Broker, main, until  # noqa: E402
from kafka import Kafka  # noqa: E402

K = None
CODECS = ('none', 'gzip', 'snappy', 'lz4', 'zstd')
CLASS = 'org.apache.kafka.common.serialization.'
HANDLER = {'onException': {'exception': ['java.lang.Exception'], 'handled': {'constant': 'true'}, 'steps': [
    {'setHeader': {'name': 'CamelHttpResponseCode', 'constant': '503'}}, {'setBody': {'simple': '${exception}'}}]}}


def to(topic, **options):
    return {'to': {'uri': 'kafka:' + topic, 'parameters': dict({'brokers': K.brokers}, **options)}}


def http(path, *steps):
    return {'route': {'id': path, 'from': {'uri': 'platform-http:/' + path, 'steps': [{'removeHeaders': {'pattern': '*', 'excludePattern': 'x-.*'}}] +
                                           list(steps)}}}


def reader(topic, *steps, id='r', **options):
    opts = dict({'brokers': K.brokers, 'groupId': id, 'autoOffsetReset': 'earliest'}, **options)
    return {'route': {'id': id, 'from': {'uri': 'kafka:' + topic, 'parameters': opts, 'steps': list(steps)}}}


def broker(*routes, **kw):
    return Broker({'r.json.yaml': json.dumps([HANDLER] + list(routes))}, **kw)


def header(name, value, type=None):
    e = {'expression': value}
    if type:
        e['resultType'] = type
    return {'setHeader': {'name': name, 'constant': e}}


META = {'setBody': {'simple': '${header.CamelKafkaRecordMeta[0][partition]} ${header.CamelKafkaRecordMeta[0][offset]}'}}


def test_compression():
    """Each codec lies on the broker's disk as it was asked for, and is read."""
    topics = {c: K.topic(None, 1) for c in CODECS}
    out = K.topic(None, 1)
    text = 'compressible ' * 200
    with broker(*[http(c, to(topics[c], compressionCodec=c, recordMetadata=True), META) for c in CODECS],
                reader(','.join(topics.values()), {'setBody': {'simple': '${header.CamelKafkaTopic} ${body}'}}, to(out))) as b:
        for c in CODECS:
            assert b.post('/' + c, text.encode())[2] == b'0 0', c
        got = sorted(r['value'] for r in K.consume(out, len(CODECS)))
        b.stop()
    assert got == sorted('%s %s' % (topics[c], text) for c in CODECS), [g[:20] for g in got]
    assert {c: K.batches(topics[c]) for c in CODECS} == {c: [(c, 1)] for c in CODECS}


def test_acknowledgements():
    t = K.topic(None, 1)
    routes = [http('a' + n, to(t, requestRequiredAcks=n, recordMetadata=True), META) for n in ('all', '-1', '1', '0')]
    with broker(*routes) as b:
        assert [b.post('/a' + n, n.encode())[2] for n in ('all', '-1', '1')] == [b'0 0', b'0 1', b'0 2']
        assert b.post('/a0', b'0')[2] == b'0 -1'  # nobody says where it came to
        b.stop()
    assert [r['value'] for r in K.consume(t, 4)] == ['all', '-1', '1', '0']


def test_isolation():
    """Records of a transaction that was aborted, or is open, are not seen by read_committed; read_uncommitted sees them all."""
    t = K.topic(None, 1)
    K.produce(t, [(None, 'plain')])
    K.transact(t, [(None, 'kept 1'), (None, 'kept 2')], 'commit')
    K.transact(t, [(None, 'gone 1'), (None, 'gone 2')], 'abort')
    K.transact(t, [(None, 'kept 3')], 'commit')
    one, all_ = K.topic(None, 1), K.topic(None, 1)
    with broker(reader(t, to(one), id='committed', isolationLevel='read_committed'), reader(t, to(all_), id='uncommitted')) as b:
        assert [r['value'] for r in K.consume(one, 4)] == ['plain', 'kept 1', 'kept 2', 'kept 3']
        assert [r['value'] for r in K.consume(all_, 6)] == ['plain', 'kept 1', 'kept 2', 'gone 1', 'gone 2', 'kept 3']
        until(lambda: {s['lag'] for s in b.status()['sources'] if s['route'] == 'committed'} == {0}, 20, 'no lag: the markers of transactions are none')
        until(lambda: K.committed('committed', t, 1) == K.end(t, 1), 20, 'they are behind the offset')
        K.transact(t, [(None, 'open')], 'open')
        K.produce(t, [(None, 'behind')])
        assert [r['value'] for r in K.consume(all_, 8)][6:] == ['open', 'behind']
        assert len(K.consume(one, 5, 1)) == 4
        K.transact(t, [(None, 'kept 4')], 'commit')  # of the same name: the open one is aborted
        assert [r['value'] for r in K.consume(one, 6)][4:] == ['behind', 'kept 4']
        b.stop()


def test_linger():
    """lingerMs gathers: several records that come one after another are one batch; without it a lone one does not wait."""
    t, at_once = K.topic(None, 1), K.topic(None, 1)
    with broker(http('linger', to(t, lingerMs=600), {'setBody': {'constant': 'ok'}}), http('once', to(at_once), {'setBody': {'constant': 'ok'}})) as b:
        b.post('/once', b'warm')
        began = time.monotonic()
        assert b.post('/once', b'x')[2] == b'ok'
        assert time.monotonic() - began < 0.3 * SLOW
        b.post('/linger', b'warm')
        began = time.monotonic()
        threads = [threading.Thread(target=b.post, args=('/linger', b'%d' % i)) for i in range(5)]
        for th in threads:
            th.start()
        for th in threads:
            th.join()
        assert time.monotonic() - began > 0.5, 'it waits for more'
        b.stop()
    assert max(n for _, n in K.batches(t)) >= 3, K.batches(t)


def test_topics_that_the_broker_makes():
    """The first record of a topic that is made for it does not wait for librdkafka, which looks once a second; nor do those of clients that come and go."""
    each = 'toD', {'uri': 'kafka:${header.x-t}?brokers=%s&clientId=${header.x-c}' % K.brokers}
    with broker(http('over', {'setHeader': {'name': 'CamelKafkaOverrideTopic', 'simple': '${header.x-t}'}}, to('made'), {'setBody': {'constant': 'ok'}}),
                http('dynamic', dict([each]), {'setBody': {'constant': 'ok'}})) as b:
        def took(path, topic, client=''):
            began = time.monotonic()
            status, _, said = b.get(path, headers={'x-t': topic, 'x-c': client})
            assert (status, said) == (200, b'ok'), said
            return time.monotonic() - began
        took('/over', 'made')
        times = sorted(took('/over', 'made-%d' % i) for i in range(9))
        assert times[4] < 0.5 * SLOW, times
        for i in range(100):  # more than there may be clients: some go while a topic is asked for
            took('/dynamic', 'made-by-%d' % (i // 10), 'c%d' % i)
        assert sum(sum(K.end('made-by-%d' % i)) for i in range(10)) == 100
        began = time.monotonic()
        b.stop()
        assert time.monotonic() - began < 5 * SLOW


def test_partitions():
    """The key chooses, unless it is to be ignored; round robin; a fixed partition."""
    t = K.topic()
    cases = {'key': {}, 'ignored': {'partitionerIgnoreKeys': True}, 'robin': {'partitioner': 'org.apache.kafka.clients.producer.RoundRobinPartitioner'},
             'fixed': {'partitionKey': 2}}
    routes = [http(n, header('CamelKafkaKey', 'same'), to(t, recordMetadata=True, **o), META) for n, o in cases.items()]
    with broker(*routes) as b:
        found = {n: [b.post('/' + n, b'x')[2].split()[0] for _ in range(24)] for n in cases}
        b.stop()
    assert len(set(found['key'])) == 1 and set(found['fixed']) == {b'2'}, found
    assert len(set(found['robin'])) == 4 and len(set(found['robin'][:4])) == 4, found
    assert len(set(found['ignored'])) > 1, found


def test_headers_both_ways():
    """Text, numbers, truth and bytes as Camel writes them; read, they are bytes that act as text, null stays null; old spellings of keys."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    send = [header('text', 'grün'), header('i', '7', 'Integer'), header('l', '8', 'Long'), header('d', '1.5', 'Double'), header('b', 'true', 'Boolean'),
            header('kafka.KEY', 'old key'), header('kafka.PARTITION_KEY', '0', 'Integer'), header('CamelSecretive', 'no')]
    with broker(http('h', *send, to(t), {'setBody': {'constant': 'ok'}}),
                reader(t, {'choice': {'when': [{'simple': "${header.text} == 'grün'", 'steps': [{'setBody': {'simple': '${header.text}|${header.b}|${header.CamelKafkaKey}|${header.CamelSecretive}|${headers[kafka.KEY]}'}}]}],
                                      'otherwise': {'steps': [{'setBody': {'constant': 'no match'}}]}}}, to(out))) as b:
        assert b.post('/h', b'x')[2] == b'ok'
        r = K.consume(t, 1)[0]
        assert r['key'] == 'old key', r
        got = {h['name']: h['value'] for h in r['headers']}
        assert got.pop('d')[0] == '?' and got == {'text': 'grün', 'i': '\0\0\0\7', 'l': '\0\0\0\0\0\0\0\10', 'b': 'true'}, r
        assert K.consume(out, 1)[0]['value'] == 'grün|true|old key||', K.consume(out, 1)
        b.stop()


def test_key_types():
    """Serializers of keys, and what cannot be one."""
    t = K.topic(None, 1)
    routes = [http(n.lower(), header('CamelKafkaKey', '66'), to(t, keySerializer=CLASS + n + 'Serializer'), {'setBody': {'constant': 'ok'}})
              for n in ('String', 'Integer', 'Long', 'ByteArray', 'Short')]
    with broker(*routes, http('bad', header('CamelKafkaKey', 'many'), to(t, keySerializer=CLASS + 'IntegerSerializer'))) as b:
        for n in ('string', 'integer', 'long', 'bytearray', 'short'):
            assert b.post('/' + n, b'x')[2] == b'ok', n
        status, _, body = b.post('/bad', b'x')
        assert status == 503 and b'SerializationException' in body, body
        b.stop()
    assert [r['key'] for r in K.consume(t, 5)] == ['66', '\0\0\0B', '\0\0\0\0\0\0\0B', '66', '\0B']


def test_values_both_ways():
    """A value that its serializer wrote is what its deserializer reads."""
    kinds = {'Integer': '-5', 'Long': '123456789012', 'Short': '7', 'Double': '2.5', 'Float': '0.5', 'Boolean': 'true', 'UUID': '123e4567-e89b-12d3-a456-426614174000'}
    topics = {k: K.topic(None, 1) for k in kinds}
    out = K.topic(None, 1)
    routes = [http(k, to(topics[k], valueSerializer=CLASS + k + 'Serializer'), {'setBody': {'constant': 'ok'}}) for k in kinds] + \
        [reader(topics[k], {'setBody': {'simple': k + ' ${body}'}}, to(out), id='from-' + k, valueDeserializer=CLASS + k + 'Deserializer') for k in kinds]
    with broker(*routes) as b:
        for k, v in kinds.items():
            assert b.post('/' + k, v.encode())[2] == b'ok', k
        got = {r['value'].split(' ')[0]: r['value'].split(' ')[1] for r in K.consume(out, len(kinds))}
        b.stop()
    assert got == kinds, got


def all_stopped(pid):
    for task in os.listdir('/proc/%d/task' % pid):
        with open('/proc/%d/task/%s/stat' % (pid, task)) as f:
            if f.read().rsplit(')', 1)[1].split()[0] not in 'Tt':
                return False
    return True


def test_a_broker_that_does_not_answer():
    """commitTimeoutMs: told, and made again; a send fails at deliveryTimeoutMs; all is well when it answers again."""
    t, out = K.topic(None, 1), K.topic(None, 1)
    with broker(reader(t, {'log': 'got ${body}'}, {'delay': {'constant': '1000'}}, id='slow', commitTimeoutMs=1500, autoCommitIntervalMs=300, sessionTimeoutMs=60000),
                http('k', to(out, deliveryTimeoutMs=1500, requestTimeoutMs=1000), {'setBody': {'constant': 'ok'}})) as b:
        assert b.post('/k', b'1')[2] == b'ok'
        K.produce(t, [(None, 'a')])
        b.wait_line('got a', 20)
        until(lambda: K.committed('slow', t, 1) == [1], 20, 'the first one')
        K.produce(t, [(None, 'b')])
        b.wait_line('got b', 20)
        os.killpg(K.proc.pid, signal.SIGSTOP)
        until(lambda: all_stopped(K.proc.pid), 10, 'the broker stands still')
        try:
            status, _, body = b.post('/k', b'2')
            assert status == 503 and b'TimeoutException' in body and b'within 1500 ms' in body, body
            b.wait_line('route slow: offsets were not committed within 1500 ms, which is tried again', 20)
        finally:
            os.killpg(K.proc.pid, signal.SIGCONT)
        until(lambda: K.committed('slow', t, 1) == [2], 60, 'the second one')
        until(lambda: b.post('/k', b'3')[0] == 200, 30, 'sends again')
        b.stop()


def test_the_call_and_the_delivery():
    """deliveryTimeoutMs longer than supervisor.call_timeout: the client is told why before that, and that the record may come yet; so it does, and the log says so."""
    t = K.topic(None, 1)
    with broker(http('k', to(t), {'setBody': {'constant': 'ok'}}), settings=['supervisor.call_timeout=3s']) as b:
        assert b.post('/k', b'1')[2] == b'ok'
        K.kill()
        try:
            began = time.monotonic()
            status, _, body = b.post('/k', b'2')
            took = time.monotonic() - began
            assert status == 503 and b'TimeoutException' in body and b'within 2500 ms, but may be yet' in body, body
            assert 2 < took < 3 + SLOW, took
        finally:
            K.start()
        assert until(lambda: b.post('/k', b'3')[0] == 200, 30, 'the broker is used again')
        b.wait_line('were acknowledged after the exchanges that sent them had failed', 30)
        b.stop()
    assert [r['value'] for r in K.consume(t, 3)][:2] == ['1', '2']


if __name__ == '__main__':
    with Kafka() as K:
        main(globals())
