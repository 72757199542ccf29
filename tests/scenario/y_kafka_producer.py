"""to: kafka: into a real broker: keys, headers, lists, tombstones, what is refused and why, a broker that goes and comes back."""
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests/lib'))
import kafka
from broker import Broker, Load, SANITIZED, SLOW, hinny, main, own_kib, setting, until

K = None
PATIENT = ['supervisor.call_timeout=130s']  # a busy machine takes its time to start Kafka
HANDLER = '''
- onException:
    exception: [java.lang.Exception]
    handled: {constant: "true"}
    steps:
      - setHeader: {name: CamelHttpResponseCode, constant: "503"}
      - setBody: {simple: "${exception}"}
'''


def http(path, *steps):
    """A route from HTTP whose steps are given as YAML flow maps."""
    return '- route:\n    from:\n      uri: platform-http:/%s\n      steps:\n%s' % (path, ''.join('        - %s\n' % s for s in steps))


def to(topic, **options):
    options.setdefault('brokers', K.brokers)
    return 'to: {uri: "kafka:%s", parameters: %s}' % (topic, json.dumps(options))


def key_value(records):
    return [(r['key'], r['value']) for r in records]


def headers_of(record):
    return {h['name']: h['value'] for h in record['headers']}


ONLY_KEY = 'removeHeaders: {pattern: "*"}'


def test_tombstones_and_empty_values():
    """cases B22: null stays null, an empty text has length 0."""
    t = K.topic(None, 1)
    key = 'setHeader: {name: CamelKafkaKey, constant: "k1"}'
    routes = http('null', ONLY_KEY, key, 'setBody: {simple: "${null}"}', to(t)) + \
        http('empty', ONLY_KEY, key, 'setBody: {constant: ""}', to(t)) + \
        http('nokey', ONLY_KEY, 'setBody: {constant: "v"}', to(t))
    with Broker({'r.yaml': routes}) as b:
        assert b.get('/null')[0] == 204
        assert b.get('/empty')[0] in (200, 204)
        assert b.get('/nokey')[0] == 200
        assert key_value(K.consume(t, 3)) == [('k1', None), ('k1', ''), (None, 'v')]


def test_headers_as_camel_sends_them():
    t = K.topic()
    steps = [ONLY_KEY, 'setHeader: {name: text, constant: "grün"}',
             'setHeader: {name: int, constant: {expression: "65", resultType: Integer}}',
             'setHeader: {name: long, constant: {expression: "66", resultType: Long}}',
             'setHeader: {name: bool, constant: {expression: "true", resultType: Boolean}}',
             'setHeader: {name: CamelOwn, constant: "x"}', 'setHeader: {name: camelOwn2, constant: "x"}',
             'setHeader: {name: kafka.OWN, constant: "x"}', 'setHeader: {name: org.apache.camel.own, constant: "x"}',
             'setHeader: {name: list, simple: "${split(\'a,b\')}"}', 'setBody: {constant: "v"}', to(t)]
    with Broker({'r.yaml': http('h', *steps)}) as b:
        assert b.get('/h')[0] == 200
        found = headers_of(K.consume(t, 1)[0])
    assert found['text'] == 'grün' and found['bool'] == 'true', found
    assert found['int'] == '\0\0\0A' and found['long'] == '\0\0\0\0\0\0\0B', found
    assert not [n for n in found if n.lower().startswith(('camel', 'kafka.', 'org.apache'))], found


def test_key_partition_topic_timestamp():
    t, other = K.topic(), K.topic()
    meta = 'setBody: {simple: "${header.CamelKafkaRecordMeta[0][topic]} ${header.CamelKafkaRecordMeta[0][partition]} ' \
        '${header.CamelKafkaRecordMeta[0][offset]} ${header.CamelKafkaOverrideTopic}"}'
    def head(name, value):
        return 'setHeader: {name: %s, constant: "%s"}' % (name, value)
    routes = http('option', ONLY_KEY, head('CamelKafkaKey', 'no'), head('CamelKafkaPartitionKey', '1'),
                  to(t, key='opt', partitionKey=2, recordMetadata=True), meta) + \
        http('header', ONLY_KEY, head('CamelKafkaKey', 'hdr'), head('CamelKafkaPartitionKey', '1'), to(t, recordMetadata=True), meta) + \
        http('old', ONLY_KEY, head('kafka.KEY', 'old'), head('kafka.PARTITION_KEY', '3'), to(t, recordMetadata=True), meta) + \
        http('topic', ONLY_KEY, head('CamelKafkaOverrideTopic', other), head('CamelKafkaOverrideTimestamp', '1700000000000'),
             to(t, recordMetadata=True, partitionKey=0), meta) + \
        http('bad', ONLY_KEY, head('CamelKafkaPartitionKey', '-1'), to(t), meta) + \
        http('far', ONLY_KEY, head('CamelKafkaPartitionKey', '9'), to(t), meta)
    with Broker({'r.yaml': HANDLER + routes}) as b:
        assert b.get('/option')[2].decode() == '%s 2 0 ' % t
        assert b.get('/header')[2].decode() == '%s 1 0 ' % t
        assert b.get('/old')[2].decode() == '%s 3 0 ' % t
        assert b.get('/topic')[2].decode() == '%s 0 0 ' % other
        status, _, body = b.get('/bad')
        assert status == 503 and b'IllegalArgument' in body, body
        status, _, body = b.get('/far')
        assert status == 503 and b'UnknownTopicOrPartition' in body, body
    assert sorted(r['key'] for r in K.consume(t, 3)) == ['hdr', 'old', 'opt']
    assert [r['timestamp'] for r in K.consume(other, 1)] == [1700000000000]


def test_partition_of_a_key_as_javas():
    """murmur2: what Java's client does with these keys and 4 partitions."""
    t = K.topic()
    java = {'k1': 3, 'order-1': 0, 'a': 3, 'hello': 3, '42': 2, '': 0}
    java = {k: (murmur2(k.encode()) & 0x7fffffff) % 4 for k in java}
    steps = ['setHeader: {name: CamelKafkaKey, simple: "${header.k}"}', to(t, recordMetadata=True),
             'setBody: {simple: "${header.CamelKafkaRecordMeta[0][partition]}"}']
    with Broker({'r.yaml': http('k', *steps)}) as b:
        found = {k: int(b.get('/k?k=' + k)[2]) for k in java if k}
    assert found == {k: p for k, p in java.items() if k}, (found, java)


def murmur2(data):
    m, mask = 0x5bd1e995, 0xffffffff
    h = 0x9747b28c ^ len(data)
    for i in range(0, len(data) & ~3, 4):
        k = int.from_bytes(data[i:i + 4], 'little') * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    rest = data[len(data) & ~3:]
    if rest:
        h = (h ^ int.from_bytes(rest, 'little')) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


def test_lists_and_serializers():
    t, n, m = K.topic(None, 1), K.topic(None, 1), K.topic(None, 1)
    long_class = 'org.apache.kafka.common.serialization.LongSerializer'
    routes = http('list', ONLY_KEY, 'unmarshal: {json: {}}', to(t, recordMetadata=True, key='k'),
                  'setBody: {simple: "${header.CamelKafkaRecordMeta.size()} ${body.size()}"}') + \
        http('whole', ONLY_KEY, 'unmarshal: {json: {}}', to(t, useIterator=False)) + \
        http('map', ONLY_KEY, 'unmarshal: {json: {}}', to(t)) + \
        http('meta', ONLY_KEY, 'unmarshal: {json: {}}', to(m, recordMetadata=True),
             'setBody: {simple: "%s"}' % ' '.join('${header.CamelKafkaRecordMeta%s}' % s for s in ('', '[1].offset', '[0].topic()', '[0].partition', '[0][offset]'))) + \
        http('long', ONLY_KEY, to(n, valueSerializer=long_class), 'setBody: {constant: "ok"}')
    with Broker({'r.yaml': HANDLER + routes}) as b:
        assert b.post('/list', b'["a", "b", 3, null]')[2] == b'4 4'
        assert b.post('/list', b'[]')[2] == b'0 0'
        assert b.post('/meta', b'["a", "b"]')[2].decode() == '[%s-0@0, %s-0@1] 1 %s 0 0' % (m, m, m)
        b.post('/whole', b'["x", "y"]')
        b.post('/map', b'{"a": 1}')
        assert key_value(K.consume(t, 6)) == [('k', 'a'), ('k', 'b'), ('k', '3'), ('k', None), (None, '[x, y]'), (None, '{a=1}')]
        assert b.post('/long', b'66')[2] == b'ok'
        assert K.consume(n, 1)[0]['value'] == '\0\0\0\0\0\0\0B'
        status, _, body = b.post('/long', b'many')
        assert status == 503 and b'SerializationException' in body, body


def test_what_cannot_be_sent():
    """An oversized record, a topic that is not there, a name that is none: the broker's reason, and others go on."""
    t = K.topic()
    small = K.topic(None, 1, 'max.message.bytes=2000')
    routes = http('big', ONLY_KEY, to(t, maxRequestSize=2000), 'setBody: {constant: "ok"}') + \
        http('refused', ONLY_KEY, to(small), 'setBody: {constant: "ok"}') + \
        http('none', ONLY_KEY, to('no-such-topic', maxBlockMs=1000), 'setBody: {constant: "ok"}') + \
        http('name', ONLY_KEY, 'setHeader: {name: CamelKafkaOverrideTopic, constant: "a b"}', to(t, maxBlockMs=1000)) + \
        http('dynamic', 'toD: "kafka:${header.t}?brokers=%s"' % K.brokers, 'setBody: {constant: "ok"}')
    with Broker({'r.yaml': HANDLER + routes}) as b:
        def fails(path, body, *parts):
            status, _, said = b.post(path, body)
            assert status == 503 and all(p in said.decode() for p in parts), said
        assert b.post('/big', b'x' * 1000)[2] == b'ok'
        fails('/big', b'x' * 2000, 'org.apache.kafka.common.errors.RecordTooLargeException', 'larger than 2000')
        fails('/refused', b'x' * 3000, 'RecordTooLargeException')
        fails('/none', b'x', 'UnknownTopicOrPartitionException')
        for _ in range(2):
            fails('/name', b'x', 'InvalidTopicException: Invalid topics: [a b]')
            for name in 'a%20b', '..', '.', 'x' * 250, 'a/b', '%C3%BC':
                fails('/dynamic?t=' + name, b'x', 'InvalidTopicException: Invalid topics: [')
            fails('/dynamic?t=', b'x', 'NoSuchEndpointException')
        assert b.post('/dynamic?t=' + t, b'x')[2] == b'ok'
        assert b.post('/big', b'y')[2] == b'ok'
        assert b.post('/refused', b'y')[2] == b'ok'


def test_credentials_and_tls():
    t = K.topic()
    def sasl(password):
        return {'brokers': '127.0.0.1:%d' % K.sasl_port, 'securityProtocol': 'SASL_PLAINTEXT', 'saslMechanism': 'PLAIN',
                'saslUsername': 'alice', 'saslPassword': password}
    jaas = dict(sasl(''), saslJaasConfig='org.apache.kafka.common.security.plain.PlainLoginModule required '
                'username="alice" password="{{secret}}";')
    del jaas['saslUsername'], jaas['saslPassword']
    tls = {'brokers': '127.0.0.1:%d' % K.tls_port, 'securityProtocol': 'SSL', 'sslTruststoreType': 'PEM',
           'sslTruststoreLocation': os.path.join(K.folder, 'kafka', 'tls', 'ca.pem')}
    ok = 'setBody: {constant: "ok"}'
    routes = http('right', to(t, **sasl('{{secret}}')), ok) + http('wrong', to(t, **sasl('{{guess}}')), ok) + \
        http('jaas', to(t, **jaas), ok) + http('tls', to(t, **tls), ok) + \
        http('untrusted', to(t, brokers=tls['brokers'], securityProtocol='SSL'), ok)
    with Broker({'r.yaml': HANDLER + routes}, properties=['secret=alice-secret', 'guess=wrong-secret']) as b:
        for path in ('/right', '/jaas', '/tls'):
            assert b.post(path, b'x')[2] == b'ok', path
        began = time.monotonic()
        status, _, body = b.post('/wrong', b'x')
        assert status == 503 and b'SaslAuthenticationException' in body, body
        status, _, body = b.post('/untrusted', b'x')
        assert status == 503 and b'SslAuthenticationException' in body, body
        assert time.monotonic() - began < 10 * SLOW, 'not before deliveryTimeoutMs'
        assert b.post('/right', b'x')[2] == b'ok'
        b.wait_line(r'level=error.*uthentication')
        assert 'wrong-secret' not in b.log() and 'alice-secret' not in b.log(), b.log()
    assert len(K.consume(t, 4)) == 4


def test_properties_are_known_or_refused():
    def check(**options):
        folder_routes = http('a', to('t', **options))
        import tempfile
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
            f.write(folder_routes)
            f.flush()
            return hinny('check', '--property', 'secret=hush', f.name)
    status, out, err = check(**{'additionalProperties.socket.timeout.ms': 20000, 'additionalProperties.max.request.size': 5000,
                                'additionalProperties.client.dns.lookup': 'use_all_dns_ips'})
    assert status == 0, out + err
    for name, value, parts in (('socket.timeout.mss', 1, ['no such property', 'socket.timeout.ms']),
                               ('socket.timeout.ms', 'soon', ['socket.timeout.ms']),
                               ('bootstrap.servers', 'x:1', ['brokers']),
                               ('plugin.library.paths', '/tmp/x.so', ['cannot be given'])):
        status, out, err = check(**{'additionalProperties.' + name: value})
        assert status == 1 and '.yaml:' in out + err and all(p in out + err for p in parts), (name, out, err)
    status, out, err = check(securityProtocol='SASL_SSL', saslMechanism='PLAIN', saslUsername='u', saslPassword='{{secret}}',
                             **{'additionalProperties.sasl.oauthbearer.client.secret': '{{secret}}', 'additionalProperties.no.such': 1})
    assert status == 1 and 'no.such' in out + err and 'hush' not in out + err, out + err


def test_a_broker_that_is_away():
    """An error within deliveryTimeoutMs; back-pressure with a reason; used again when it is back, without a restart."""
    t = K.topic()
    ok = 'setBody: {constant: "ok"}'
    routes = http('k', ONLY_KEY, to(t, deliveryTimeoutMs=2000, requestTimeoutMs=1000), ok) + \
        http('full', ONLY_KEY, to(t, deliveryTimeoutMs=100000, maxBlockMs=1000, queueBufferingMaxMessages=1), ok)
    with Broker({'r.yaml': HANDLER + routes}, settings=PATIENT) as b:
        assert b.post('/k', b'1')[2] == b'ok'
        K.kill()
        try:
            began = time.monotonic()
            status, _, body = b.post('/k', b'2')
            took = time.monotonic() - began
            assert status == 503 and b'TimeoutException' in body and b'refused' in body, body
            assert 1.5 < took < 2.5 + SLOW, took
            answers = []
            holders = [threading.Thread(target=lambda: answers.append(b.post('/full', b'3', timeout=120))) for _ in range(2)]
            for h in holders:
                h.start()
            until(lambda: answers, 10, 'the one that has no room fails')
            assert answers[0][0] == 503 and b'Failed to allocate memory' in answers[0][2], answers
        finally:
            K.start()
        for h in holders:
            h.join()
        assert answers[1][2] == b'ok', answers
        assert until(lambda: b.post('/k', b'4')[2] == b'ok', 20, 'the broker is used again')
    values = [r['value'] for r in K.consume(t, 3)]
    assert sorted(values)[:1] == ['1'] and '3' in values and '4' in values, values


def test_a_restart_under_load_loses_nothing():
    """Every 2xx is a record; the requests that fail have a reason."""
    t = K.topic()
    routes = http('k', ONLY_KEY, to(t), 'setBody: {constant: "ok"}')
    count = setting('KAFKA_RESTART', 4000, 100000)
    with Broker({'r.yaml': HANDLER + routes}, settings=PATIENT) as b:
        sent, failed, lock = set(), [], threading.Lock()

        def send(first):
            for i in range(first, count, 16):
                status, _, body = b.post('/k', b'id-%d' % i, timeout=150)
                with lock:
                    (sent.add('id-%d' % i) if status == 200 else failed.append(body))
        threads = [threading.Thread(target=send, args=(i,)) for i in range(16)]
        for th in threads:
            th.start()
        until(lambda: len(sent) > count // 4, 60, 'a quarter is sent')
        K.stop()
        K.start()
        until(lambda: len(sent) > count // 2, 60, 'half is sent')
        K.kill()
        K.start()
        for th in threads:
            th.join()
        assert not failed, failed[:3]
        # what a killed broker had not on its disk yet is the operating system's: it was not killed
        found = {r['value'] for r in K.consume(t, len(sent) + 1, 5)}
        assert sent <= found, sorted(sent - found)[:10]


def test_kafka_down_at_the_start():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    routes = http('k', to('t', brokers='127.0.0.1:%d' % port, deliveryTimeoutMs=1500), 'setBody: {constant: "ok"}') + \
        http('other', 'setBody: {constant: "ok"}')
    with Broker({'r.yaml': HANDLER + routes}) as b:
        status, _, body = b.post('/k', b'x')
        assert status == 503 and b'TimeoutException' in body, body
        assert b.get('/other')[2] == b'ok'
        began = time.monotonic()
        b.stop()
        assert time.monotonic() - began < 5 * SLOW


def test_more_clients_than_are_kept():
    """Configurations that messages name: the clients of those that are idle make room, and what is on its way arrives."""
    t = K.topic()
    each, threads = setting('KAFKA_CLIENTS', 25), 8
    ok = 'setBody: {constant: "ok"}'
    routes = http('d', 'toD: "kafka:%s?brokers=%s&clientId=c${header.c}"' % (t, K.brokers), ok) + http('k', to(t), ok)
    bad = []
    with Broker({'r.yaml': HANDLER + routes}) as b:
        def send(thread):
            for i in range(each):
                for path in '/d?c=%d-%d' % (thread, i), '/k':
                    status, _, body = b.post(path, b'x')
                    if status != 200:
                        bad.append(body)
        all_ = [threading.Thread(target=send, args=(n,)) for n in range(threads)]
        for th in all_:
            th.start()
        for th in all_:
            th.join()
        assert not bad, bad[0]
        assert sum(K.end(t)) == 2 * each * threads
        pid, = b.workers('kafka')
        assert len(os.listdir('/proc/%d/task' % pid)) < 64 * 5 + 20


def test_reload_and_memory():
    t = K.topic()
    routes = http('k', ONLY_KEY, to(t), 'setBody: {constant: "ok"}')
    with Broker({'r.yaml': routes, 'body': 'x' * 300, 'ok': 'ok'}) as b:
        files = {'body': os.path.join(b.folder, 'body'), 'expect': os.path.join(b.folder, 'ok'), 'connections': 32}
        Load(b.port, '/k', requests=setting('KAFKA_WARM', 3000), **files).all_ok()
        before = own_kib(b.pids())
        load = Load(b.port, '/k', requests=setting('KAFKA_LOAD', 20000, 1000000), **files)
        for _ in range(3):
            b.hinny('reload', '--wait', check=True)
        r = load.all_ok()
        grown = own_kib(b.pids()) - before
        assert SANITIZED or grown < 6000, grown  # a sanitizer keeps what is freed
        assert sum(K.end(t)) >= r['ok']


def all_tests():
    global K
    with kafka.Kafka(sasl=True, tls=True, settings=('auto.create.topics.enable=false',)) as K:
        main({n: f for n, f in globals().items() if n.startswith('test_')})


all_tests()
