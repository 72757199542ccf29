#!/usr/bin/env python3
"""kafka: with SASL and TLS, on a real broker: who is let in, who is not and why, as sender and as reader; secrets come by placeholders."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import EXAMPLES, SLOW, Broker, check, main  # noqa: E402
from kafka import Kafka  # noqa: E402

K = None
SECRETS = ['secret=alice-secret', 'guess=wrong-secret', 'key.password=key-secret', 'store.password=store-secret']
HANDLER = [{'onException': {'exception': ['java.lang.Exception'], 'handled': {'constant': 'true'}, 'steps': [
    {'setHeader': {'name': 'CamelHttpResponseCode', 'constant': '503'}}, {'setBody': {'simple': '${exception}'}}]}}]


def tls_file(name):
    return os.path.join(K.folder, 'kafka', 'tls', name)


def sender(path, topic, **options):
    return {'route': {'id': path, 'from': {'uri': 'platform-http:/' + path, 'steps': [
        {'removeHeaders': {'pattern': '*'}}, {'to': {'uri': 'kafka:' + topic, 'parameters': options}}, {'setBody': {'constant': 'ok'}}]}}}


def reader(id, topic, out, **options):
    opts = dict({'groupId': id, 'autoOffsetReset': 'earliest'}, **options)
    return {'route': {'id': id, 'from': {'uri': 'kafka:' + topic, 'parameters': opts, 'steps': [
        {'setBody': {'simple': id + ' ${body}'}}, {'to': {'uri': 'kafka:' + out, 'parameters': {'brokers': K.brokers}}}]}}}


def broker(*routes):
    return Broker({'r.json.yaml': json.dumps(HANDLER + list(routes))}, properties=SECRETS)


def sasl(mechanism, password='{{secret}}', **more):
    return dict({'brokers': '127.0.0.1:%d' % K.sasl_port, 'securityProtocol': 'SASL_PLAINTEXT', 'saslMechanism': mechanism,
                 'saslUsername': 'alice', 'saslPassword': password}, **more)


def jaas(mechanism, module, password='{{secret}}'):
    options = sasl(mechanism)
    del options['saslUsername'], options['saslPassword']
    options['saslJaasConfig'] = 'org.apache.kafka.common.security.%s required username="alice" password="%s";' % (module, password)
    return options


def auth_type(kind):
    options = sasl('PLAIN', saslAuthType=kind)
    del options['saslMechanism']
    return options


SCRAM = 'scram.ScramLoginModule'


def test_sasl():
    """PLAIN and both of SCRAM, by every way to write it; wrong ones are told soon, by the reason, and others go on."""
    t, out = K.topic(), K.topic()
    ways = {'plain': sasl('PLAIN'), 'scram256': sasl('SCRAM-SHA-256'), 'scram512': sasl('SCRAM-SHA-512'),
            'jaas256': jaas('SCRAM-SHA-256', SCRAM), 'jaasplain': jaas('PLAIN', 'plain.PlainLoginModule'), 'type512': auth_type('SCRAM_SHA_512')}
    wrong = {'wrong' + m[-3:].lower(): sasl(m, '{{guess}}') for m in ('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512')}
    wrong['nobody'] = dict(sasl('SCRAM-SHA-256'), saslUsername='mallory')
    routes = [sender('to-' + n, t, **w) for n, w in dict(ways, **wrong).items()] + [reader(n, t, out, **w) for n, w in ways.items()]
    with broker(*routes) as b:
        for n in ways:
            assert b.post('/to-' + n, n.encode())[2] == b'ok', (n, b.log()[-2000:])
        for n in wrong:
            began = time.monotonic()
            status, _, body = b.post('/to-' + n, b'no')
            assert status == 503 and b'SaslAuthenticationException' in body, (n, body)
            assert time.monotonic() - began < 6 * SLOW, 'long before deliveryTimeoutMs'
        assert b.post('/to-scram512', b'again')[2] == b'ok'
        want = sorted('%s %s' % (r, v) for r in ways for v in list(ways) + ['again'])
        got = sorted(r['value'] for r in K.consume(out, len(want)))
        assert got == want, got
        b.stop()
        assert 'alice-secret' not in b.log() and 'wrong-secret' not in b.log(), b.log()


def test_wrong_credentials_of_readers():
    """The log and the error handler of the route say why; the route beside it goes on."""
    t, out, told = K.topic(None, 1), K.topic(None, 1), K.topic(None, 1)
    wrong = reader('wrong', t, out, **sasl('SCRAM-SHA-512', '{{guess}}'))
    wrong['route']['from']['steps'].insert(0, {'onException': {
        'exception': ['org.apache.kafka.common.errors.SaslAuthenticationException'], 'handled': {'constant': 'true'},
        'steps': [{'setBody': {'simple': '${exception.message}'}}, {'to': {'uri': 'kafka:' + told, 'parameters': {'brokers': K.brokers}}}]}})
    with broker(wrong, reader('right', t, out, **sasl('SCRAM-SHA-512'))) as b:
        K.produce(t, [(None, 'x')])
        assert [r['value'] for r in K.consume(out, 1)] == ['right x']
        b.wait_line(r'level=error.*route wrong: .*[Aa]uthentication', 20)
        assert 'uthentication' in K.consume(told, 1)[0]['value']
        b.stop()


def openssl(*args):
    p = subprocess.run(['openssl'] + list(args), cwd=tls_file('.'), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert p.returncode == 0, p.stdout.decode()


def make_client_keys():
    """The client's key under a password, as PEM (PKCS#8) and PKCS12; the CA of somebody else."""
    if os.path.exists(tls_file('client.p12')):
        return
    openssl('pkcs8', '-topk8', '-in', 'client.key', '-passout', 'pass:key-secret', '-out', 'client.pk8')
    with open(tls_file('client-locked.pem'), 'w') as out:
        for name in 'client.pk8', 'client.pem':
            with open(tls_file(name)) as f:
                out.write(f.read())
    with open(tls_file('client-open.pem'), 'w') as out:
        for name in 'client.pem', 'client.key':
            with open(tls_file(name)) as f:
                out.write(f.read())
    openssl('pkcs12', '-export', '-in', 'client.pem', '-inkey', 'client.key', '-passout', 'pass:store-secret', '-out', 'client.p12')
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=Another CA', '-keyout', 'other.key', '-out', 'other.pem')
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=Mallory', '-keyout', 'mallory.key', '-out', 'mallory.crt')
    with open(tls_file('mallory.pem'), 'w') as out:
        for name in 'mallory.crt', 'mallory.key':
            with open(tls_file(name)) as f:
                out.write(f.read())


def tls(**more):
    return dict({'brokers': '127.0.0.1:%d' % K.tls_port, 'securityProtocol': 'SSL', 'sslTruststoreLocation': tls_file('ca.pem')}, **more)


def test_tls():
    """The broker's certificate, the client's own as PEM or PKCS12; each thing that is wrong fails soon, with its reason."""
    make_client_keys()
    t, out = K.topic(), K.topic()
    locked = {'sslKeystoreLocation': tls_file('client-locked.pem'), 'sslKeyPassword': '{{key.password}}'}
    store = {'sslKeystoreLocation': tls_file('client.p12'), 'sslKeystoreType': 'PKCS12', 'sslKeystorePassword': '{{store.password}}'}
    ways = {'pem': tls(sslKeystoreLocation=tls_file('client-open.pem')), 'locked': tls(**locked), 'pkcs12': tls(**store),
            'authtype': dict({k: v for k, v in tls(**locked).items() if k != 'securityProtocol'}, saslAuthType='SSL')}
    wrong = {'other-ca': (tls(**dict(locked, sslTruststoreLocation=tls_file('other.pem'))), b'SslAuthenticationException', b'certificate verify failed'),
             'no-key': (tls(), b'Exception', b''),
             'mallory': (tls(sslKeystoreLocation=tls_file('mallory.pem')), b'Exception', b'')}
    routes = [sender('to-' + n, t, **w) for n, w in ways.items()] + [sender('to-' + n, t, **w[0]) for n, w in wrong.items()] + \
        [reader(n, t, out, **w) for n, w in ways.items()]
    with broker(*routes) as b:
        for n in ways:
            assert b.post('/to-' + n, n.encode())[2] == b'ok', (n, b.log()[-2000:])
        for n, (_, class_, why) in wrong.items():
            began = time.monotonic()
            status, _, body = b.post('/to-' + n, b'no')
            assert status == 503 and class_ in body and why in body, (n, body)
            assert time.monotonic() - began < 10 * SLOW, 'long before deliveryTimeoutMs: %s' % n
        want = sorted('%s %s' % (r, v) for r in ways for v in ways)
        got = sorted(r['value'] for r in K.consume(out, len(want)))
        assert got == want, got
        b.stop()
        assert 'key-secret' not in b.log() and 'store-secret' not in b.log(), b.log()


def test_host_name():
    """A certificate that is for another name is refused, unless sslEndpointAlgorithm=none."""
    make_client_keys()
    t = K.topic()
    key = {'sslKeystoreLocation': tls_file('client-open.pem')}
    other = '127.1:%d' % K.tls_port  # the same address under a name that the certificate does not have
    with broker(sender('strict', t, **tls(brokers=other, **key)), sender('none', t, **tls(brokers=other, sslEndpointAlgorithm='none', **key))) as b:
        status, _, body = b.post('/strict', b'no')
        assert status == 503 and b'SslAuthenticationException' in body, body
        assert b.post('/none', b'x')[2] == b'ok', b.log()[-2000:]
        b.stop()


def test_refused_at_load():
    """A wrong password of the key, a store that cannot be read, a secret in the file: file, line and why."""
    make_client_keys()

    def fails(options, *parts):
        status, out, err = check({'r.yaml': json.dumps([sender('a', 't', **options)])}, *[a for s in SECRETS for a in ('--property', s)])
        assert status == 1 and 'r.yaml:1:' in err and all(p in err for p in parts), (status, out, err)
        assert 'secret' not in err.replace('a secret does not', '').replace('client.secret', ''), err
    fails(tls(sslKeystoreLocation=tls_file('client-locked.pem'), sslKeyPassword='{{guess}}'), 'client-locked.pem')
    fails(tls(sslKeystoreLocation=tls_file('client-locked.pem')), 'client-locked.pem')
    fails(tls(sslKeystoreLocation=tls_file('client.p12'), sslKeystoreType='PKCS12', sslKeystorePassword='{{guess}}'), 'client.p12')
    fails(tls(sslTruststoreLocation=tls_file('client.p12'), sslTruststoreType='PEM'), 'client.p12')
    fails(tls(sslTruststoreLocation=tls_file('client.p12'), sslTruststoreType='PKCS12'), 'sslTruststoreType', 'PEM')
    fails(tls(sslKeystoreLocation=tls_file('client.p12'), sslKeystoreType='JKS'), 'sslKeystoreType', 'PKCS12')
    fails(sasl('PLAIN', 'hush'), 'saslPassword', 'a secret does not stand in a route file')


def example(folder, route, properties, extra_env=None):
    files = {}
    for name in os.listdir(os.path.join(EXAMPLES, folder)):
        with open(os.path.join(EXAMPLES, folder, name)) as f:
            files[name] = f.read()
    return Broker(files, routes=[route], properties=properties, extra_env=extra_env)


def test_examples():
    """conf/examples/kafka and kafka-secured do what they say."""
    for name in 'orders', 'large-orders', 'orders-broken':
        K.topic(name)
    secured = ['camel.component.kafka.brokers=127.0.0.1:%d' % K.sasl_port, 'camel.component.kafka.security-protocol=SASL_PLAINTEXT']
    with example('kafka', 'http-to-kafka.yaml', ['kafka.brokers=' + K.brokers]) as web:
        with example('kafka-secured', 'large-orders.yaml', secured, {'KAFKA_PASSWORD': 'alice-secret'}) as b:
            for order in '{"id": 1, "amount": 50}', '{"id": 2, "amount": 150}', '{"id": 3, "amount": 101.5}':
                status, _, body = web.post('/orders', order.encode(), {'Content-Type': 'application/json'})
                assert status == 202 and body.startswith(b'partition '), body
            K.produce('orders', [('4', 'no json')])
            got = K.consume('large-orders', 2)
            assert sorted(json.loads(r['value'])['id'] for r in got) == [2, 3] and {r['key'] for r in got} == {'2', '3'}, got
            assert {h['name']: h['value'] for h in got[0]['headers']}['size'] == 'large', got
            broken = K.consume('orders-broken', 1)
            assert broken and broken[0]['value'] == 'no json' and broken[0]['key'] == '4', broken
            assert b.stop() == 0
            assert 'alice-secret' not in b.log()


if __name__ == '__main__':
    with Kafka(sasl=True, tls=True, settings=('ssl.client.auth=required',)) as K:
        main(globals())
