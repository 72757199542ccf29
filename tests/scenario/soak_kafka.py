#!/usr/bin/env python3
"""make soak: members of a group come and go for an hour under load; nothing is lost and the memory of the worker that stays is flat."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, main, pss_kib, setting, until  # noqa: E402
from kafka import Kafka  # noqa: E402

SECONDS = setting('SOAK_KAFKA_SECONDS', 60.0, 3600.0)
REST = setting('SOAK_KAFKA_REST', 1.0, 30.0)  # between two rebalances


def test_rebalances():
    with Kafka() as k:
        source, target = k.topic(), k.topic()
        routes = {'r.yaml': json.dumps([{'route': {'id': 'r', 'from': {'uri': 'kafka:' + source, 'parameters': {
            'brokers': k.brokers, 'groupId': 'soak', 'autoOffsetReset': 'earliest', 'sessionTimeoutMs': 6000, 'heartbeatIntervalMs': 1000},
            'steps': [{'to': {'uri': 'kafka:' + target, 'parameters': {'brokers': k.brokers}}}]}}}])}
        sent, stop, failed = [0], threading.Event(), []

        def load():
            try:
                while not stop.is_set():
                    k.produce(source, [('k%d' % i, 'm%d' % (sent[0] + i)) for i in range(500)])
                    sent[0] += 500
                    time.sleep(0.2)
            except Exception as e:
                failed.append(e)
        with Broker(routes) as one:
            until(lambda: len(one.status()['sources']) == 4, 30, 'all partitions')
            producer = threading.Thread(target=load)
            producer.start()
            end, rebalances, sizes = time.monotonic() + SECONDS, 0, []
            while time.monotonic() < end:
                with Broker(routes) as two:
                    until(lambda: len(one.status()['sources']) == 2, 60, 'two partitions')
                    time.sleep(REST)
                    two.stop()
                until(lambda: len(one.status()['sources']) == 4, 60, 'all partitions')
                time.sleep(REST)
                rebalances += 2
                sizes.append(pss_kib(one.workers('kafka')))
                assert not failed, failed
            stop.set()
            producer.join()
            until(lambda: sum(k.end(target)) >= sent[0], 60, 'all records')
            one.stop()
        print('# %d rebalances, %d records, PSS in KiB: %s' % (rebalances, sent[0], ' '.join(map(str, sizes[::max(1, len(sizes) // 20)]))))
        half = len(sizes) // 2
        assert max(sizes[half:]) < max(sizes[:max(1, half)]) * 1.2 + 1024, sizes


if __name__ == '__main__':
    main(globals())
