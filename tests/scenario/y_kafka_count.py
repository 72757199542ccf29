#!/usr/bin/env python3
"""Records with unique ids from topic to topic, while the worker is killed again and again and the broker is restarted twice: every id arrives,
and those of one key in order, apart from repeats. 50,000 of them; in make soak 1,000,000."""
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SANITIZED, SOAK, Broker, main, until  # noqa: E402
from kafka import Kafka  # noqa: E402

RECORDS = 1000000 if SOAK else 10000 if SANITIZED else 50000
KEYS = 100
BATCH = 2000
PAD = 'x' * 200


def routes(k, source, target, **options):
    opts = {'brokers': k.brokers, 'groupId': 'count', 'autoOffsetReset': 'earliest', 'autoCommitIntervalMs': 500}
    opts.update(options)
    return json.dumps([
        {'onException': {'exception': ['java.lang.Exception'], 'redeliveryPolicy': {'maximumRedeliveries': -1, 'redeliveryDelay': '200'}}},
        {'route': {'id': 'count', 'from': {'uri': 'kafka:' + source, 'parameters': opts, 'steps': [
            {'unmarshal': {'json': {}}},
            {'filter': {'jsonpath': '$[?(@.id >= 0)]', 'steps': [
    
                {'marshal': {'json': {}}},
                {'to': {'uri': 'kafka:' + target, 'parameters': {'brokers': k.brokers}}}]}}]}}}])


def produce(k, topic, failed):
    try:
        for first in range(0, RECORDS, BATCH):
            lines = [('k%d' % (i % KEYS), '{"id":%d,"pad":"%s"}' % (i, PAD)) for i in range(first, min(first + BATCH, RECORDS))]
            k.produce(topic, lines)
    except Exception as e:  # told by the test itself
        failed.append(e)


def check(k, target):
    """Returns how many came, and how many of them again."""
    n = sum(k.end(target))
    highest, seen, repeats = {}, bytearray(RECORDS), 0
    for r in k.consume(target, n, 300):
        i = json.loads(r['value'])['id']
        assert r['key'] == 'k%d' % (i % KEYS), r
        if seen[i]:
            repeats += 1
            continue
        seen[i] = 1
        before = highest.get(r['key'], -1)
        assert i > before, 'of key %s %d came for the first time behind %d' % (r['key'], i, before)
        highest[r['key']] = i
    missing = [i for i in range(RECORDS) if not seen[i]]
    assert not missing, '%d are missing, such as %s' % (len(missing), missing[:10])
    return n, repeats


def count(**options):
    with Kafka() as k:
        source, target = k.topic(), k.topic()
        failed, kills, rnd = [], 0, random.Random(5)
        producer = threading.Thread(target=produce, args=(k, source, failed))
        with Broker({'r.yaml': routes(k, source, target, **options)}) as b:
            producer.start()
            restarts = [RECORDS // 3, RECORDS * 2 // 3]
            end = time.monotonic() + (1800 if SOAK else 240)

            def committed():
                try:
                    return sum(max(c, 0) for c in k.committed('count', source))
                except AssertionError:  # the broker has just begun to be one
                    return 0
            while restarts or kills < 3 or committed() < RECORDS:
                assert time.monotonic() < end, 'only %d are committed:\n%s' % (committed(), b.log()[-3000:])
                assert not failed, failed
                time.sleep(rnd.uniform(0.2, 1.2))
                workers = b.workers('kafka')
                if workers and (kills < 6 or SOAK):
                    os.kill(workers[0], 9)
                    kills += 1
                if restarts and committed() >= restarts[0]:
                    restarts.pop(0)
                    k.kill() if restarts else k.stop()
                    time.sleep(0.5)
                    k.start()
            producer.join()
            b.stop()
        n, repeats = check(k, target)
        print('# %d records, %d arrived, %d of them repeats, %d kills' % (RECORDS, n, repeats, kills))


def test_count():
    count()


def test_count_one_at_a_time():
    if SOAK:
        count(maxInFlight=1)
    else:
        global RECORDS
        RECORDS //= 5
        count(maxInFlight=1)


if __name__ == '__main__':
    main(globals())
