"""The Kafka broker of the tests itself: it starts, keeps its records over SIGKILL, and lets in by SASL and TLS whom it should."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests/lib'))
import kafka
from broker import main


def with_settings(k, port, settings, *args):
    os.environ['KAFKA_TOOL'] = settings
    plain, k.brokers = k.brokers, '127.0.0.1:%d' % port
    try:
        return k.tool(*args)
    finally:
        k.brokers = plain
        del os.environ['KAFKA_TOOL']


def test_records_survive_a_killed_broker():
    with kafka.Kafka(sasl=True, tls=True) as k:
        topic = k.topic()
        k.produce(topic, [('a', '1', 0), (None, '2', 1), ('c', None, 2)])
        k.kill()
        k.start()
        records = {r['partition']: (r['key'], r['value']) for r in k.consume(topic, 3)}
        assert records == {0: ('a', '1'), 1: (None, '2'), 2: ('c', None)}, records
        assert k.end(topic) == [1, 1, 1, 0]
        assert k.committed('nobody', topic) == [-1, -1, -1, -1]
        sasl = 'security.protocol=sasl_plaintext sasl.mechanism=PLAIN sasl.username=alice sasl.password='
        with_settings(k, k.sasl_port, sasl + 'alice-secret', 'wait', '20')
        try:
            with_settings(k, k.sasl_port, sasl + 'wrong', 'wait', '2')
        except AssertionError:
            pass
        else:
            raise AssertionError('a wrong password was let in')
        ca = os.path.join(k.folder, 'kafka', 'tls', 'ca.pem')
        with_settings(k, k.tls_port, 'security.protocol=ssl ssl.ca.location=' + ca, 'wait', '20')


main(globals())
