#!/usr/bin/env python3
"""from: kafka over reloads and in groups: who leaves, who waits, what is sought, what offsets and figures say where there are no records, records that cannot be read."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SLOW, Broker, main, until  # noqa: E402
from kafka import Kafka  # noqa: E402

K = None
INTEGER = 'org.apache.kafka.common.serialization.IntegerDeserializer'


def reader(topic, *steps, id='r', **options):
    opts = dict({'brokers': K.brokers, 'autoOffsetReset': 'earliest', 'groupId': 'g-%s-%s' % (topic, id)}, **options)
    return {'route': {'id': id, 'from': {'uri': 'kafka:' + topic, 'parameters': opts, 'steps': list(steps)}}}


def files(*routes):
    return {'r.yaml': json.dumps(list(routes))}


def says(word):
    return {'log': word + ' ${header.CamelKafkaTopic} ${header.CamelKafkaPartition} ${body}'}


def said(b, word):
    """What says() has logged: topic, partition, body."""
    return [m.groups() for m in (re.search(r'msg="%s (\S+) (\d+) ([^"]*)"' % word, line) for line in b.lines) if m]


def assigned(b, n):
    gen = b.status()['generation']
    return until(lambda: len([s for s in b.status()['sources'] if s['generation'] == gen]) == n, 20, '%d partitions' % n)


def reload(b, *routes):
    b.write('r.yaml', json.dumps(list(routes)))
    before = b.status()['generation']
    b.hinny('reload', check=True)
    until(lambda: b.status()['generation'] > before, 20, 'the new generation')


def figures(b):
    return [(s['next'], s['committed'], s['end'], s['lag']) for s in sorted(b.status()['sources'], key=lambda s: s['partition'])]


def test_reload_of_what_is_read():
    """Other topics, fewer members, another assignor, another id of the route, also with a groupInstanceId: there at once, with what is asked for and nothing else."""
    one, two = K.topic(), K.topic()
    robin = 'org.apache.kafka.clients.consumer.RoundRobinAssignor'
    steps = [(one, {'consumersCount': 3}), (one, {}), (two, {}), (two, {'consumersCount': 2, 'groupInstanceId': 'i'}), (one, {'groupInstanceId': 'i'}),
             (one + ',' + two, {'groupInstanceId': 'i'}), (one, {'partitionAssignor': robin}), (one, {'id': 'other'})]
    with Broker(files(reader(one, says('first'), groupId='change', sessionTimeoutMs=30000))) as b:
        assigned(b, 4)
        for n, (topics, options) in enumerate(steps):
            word, wanted = 'step%d' % n, topics.split(',')
            began = time.monotonic()
            reload(b, reader(topics, says(word), **dict({'groupId': 'change', 'sessionTimeoutMs': 30000}, **options)))
            assigned(b, 4 * len(wanted))
            took = time.monotonic() - began
            assert took < (4 if 'consumersCount' in options else 2) * SLOW, (n, took)  # several members: they must learn of one another
            for t in one, two:
                K.produce(t, [(None, word, p) for p in range(4)])
            if n > 0 and set(wanted) != set(steps[n - 1][0].split(',')):  # what had come there meanwhile
                until(lambda: len([s for s in said(b, word) if s[2] == word]) == 4 * len(wanted), 10, 'all of ' + word)
            else:
                until(lambda: len(said(b, word)) == 4 * len(wanted), 10, 'all of ' + word)
            assert {t for t, _, _ in said(b, word)} == set(wanted), (n, said(b, word))
        b.stop()


def test_another_topic_after_a_restart():
    """The groupInstanceId is the same, and the group still gives it the topic of before: it reads its own all the same, and nothing else."""
    one, two = K.topic(None, 2), K.topic(None, 2)
    opts = dict(groupId='restart', groupInstanceId='i', sessionTimeoutMs=60000)
    with Broker(files(reader(one, says('one'), **opts))) as b:
        assigned(b, 2)
        b.stop()
    for t in one, two:
        K.produce(t, [(None, 'x', p) for p in range(2)])
    with Broker(files(reader(two, says('two'), **opts))) as b:
        until(lambda: sorted(said(b, 'two')) == [(two, '0', 'x'), (two, '1', 'x')], 20, 'its own topic')
        b.stop()


def test_reloads_in_a_row():
    """Members come and go again before the group has let them in: none stays in it that nobody is."""
    t = K.topic()

    def members(n, count):
        return reader(t, says('n%d' % n), groupId='row', sessionTimeoutMs=60000, consumersCount=count)
    with Broker(files(members(0, 1))) as b:
        assigned(b, 4)
        for n, pause in enumerate((0, 0.02, 0.05, 0.1, 0.3)):
            for count in 3, 2, 1, 3, 1:
                reload(b, members(10 * n + count, count))
                until(lambda: len(b.status()['generations']) == 1, 20, 'the end of the old one')
                time.sleep(pause)
            began = time.monotonic()
            assigned(b, 4)
            assert time.monotonic() - began < 10 * SLOW, b.log()
        b.stop()


def test_who_goes_for_good():
    """A route that a reload takes away, a consumer that stops by pollOnError: others have their partitions at once, whatever the time of a session."""
    t = K.topic(None, 2)
    opts = dict(groupId='goes', sessionTimeoutMs=60000, valueDeserializer=INTEGER, pollOnError='STOP')
    keeps = {'route': {'id': 'keeps', 'from': {'uri': 'timer:keeps?repeatCount=1', 'steps': [{'log': 'keeps'}]}}}
    with Broker(files(reader(t, says('one'), **dict(opts, pollOnError='DISCARD')))) as one:
        for goes in 'route', 'stop':
            with Broker(files(reader(t, says('two'), **opts), keeps)) as two:
                assigned(two, 1)
                assigned(one, 1)
                began = time.monotonic()
                if goes == 'route':
                    reload(two, keeps)
                else:
                    K.produce(t, [(None, 'no number', p) for p in range(2)])
                    two.wait_line(r'level=error.*member 0 of its consumer stops', 20)
                assigned(one, 2)
                took = time.monotonic() - began
                assert took < 5 * SLOW, (goes, took)
                two.stop()
        one.stop()


def test_name_that_another_has():
    """It is told by its name, once; the two do not put one another out by turns; when the other has gone, it goes on."""
    t = K.topic(None, 1)
    routes = files(reader(t, says('got'), groupId='name', groupInstanceId='same', sessionTimeoutMs=6000))
    with Broker(routes) as one:
        assigned(one, 1)
        with Broker(routes) as two:
            assigned(two, 1)
            one.wait_line(r'level=error.*member 0 is fenced: another client has its name .*same', 20)
            for i in range(8):  # longer than it takes to look
                K.produce(t, [(None, str(i))])
                until(lambda: len(said(two, 'got')) == i + 1, 10, 'the record')
                time.sleep(1)
            assert not said(one, 'got'), one.log()
            assert len([x for x in one.lines if 'level=error' in x]) == 1, one.log()
            two.stop()
        K.produce(t, [(None, 'last')])
        until(lambda: ('last' in [x[2] for x in said(one, 'got')]), 40, 'the other one goes on')
        one.stop()


def test_seek_again():
    """Once for each partition, group and direction."""
    t = K.topic(None, 1)
    K.produce(t, [(None, '0'), (None, '1')])

    def seeks(word, where, group='seek'):
        return reader(t, says(word), groupId=group, seekTo=where)
    with Broker(files(seeks('a', 'BEGINNING'))) as b:
        for n, (where, group, want) in enumerate([('BEGINNING', 'seek', []), ('END', 'seek', []), ('BEGINNING', 'seek', ['0', '1', 'after a', 'after b', 'after c']),
                                                  ('BEGINNING', 'other', ['0', '1', 'after a', 'after b', 'after c', 'after d'])]):
            word = 'abcd'[n]
            assigned(b, 1)
            K.produce(t, [(None, 'after ' + word)])
            until(lambda: 'after ' + word in [x[2] for x in said(b, word)], 10, 'the record')
            word = 'abcde'[n + 1]
            reload(b, seeks(word, where, group))
            assigned(b, 1)
            if want:
                until(lambda: [x[2] for x in said(b, word)] == want, 10, '%s from the beginning' % word)
        assert [x[2] for x in said(b, 'a')] == ['0', '1', 'after a'] and [x[2] for x in said(b, 'b')] == ['after b'], b.log()
        b.stop()


def test_offsets_without_records():
    """The markers of transactions, and what was deleted before it was read, leave no lag; what a group has is known from the start."""
    t, gone = K.topic(None, 2), K.topic(None, 1)
    routes = files(reader(t, says('got'), autoCommitIntervalMs=200, groupInstanceId='i'))
    with Broker(routes) as b:
        assigned(b, 2)
        K.transact(t, [(None, 'a', 0), (None, 'b', 0)], 'commit')
        until(lambda: K.committed('g-%s-r' % t, t, 2) == [3, 0], 10, 'the offset behind the marker')
        until(lambda: figures(b) == [(3, 3, 3, 0), (0, 0, 0, 0)], 10, 'no lag')
        b.stop()
    with Broker(routes) as b:
        until(lambda: figures(b) == [(3, 3, 3, 0), (0, 0, 0, 0)], 10, 'the same again')
        assert not said(b, 'got')
        b.stop()
    K.produce(gone, [(None, str(i)) for i in range(10)])
    K.trim(gone, 0, 10)
    with Broker(files(reader(gone, says('got'), autoCommitIntervalMs=200))) as b:
        until(lambda: figures(b) == [(10, 10, 10, 0)], 10, 'the offset behind what was deleted')
        b.stop()


def test_offset_that_is_gone():
    """Records were deleted before the group read them: told, and it goes on as autoOffsetReset says."""
    for reset, want in ('earliest', list(range(10, 16))), ('latest', [15]), ('none', []):
        t = K.topic(None, 1)
        routes = files(reader(t, {'log': 'got ${header.CamelKafkaOffset}'}, autoOffsetReset='earliest', autoCommitIntervalMs=200, groupId='gone-' + reset, groupInstanceId='i'))
        with Broker(routes) as b:
            K.produce(t, [(None, str(i)) for i in range(5)])
            b.wait_line('got 4')
            b.stop()
        K.produce(t, [(None, str(i)) for i in range(10)])
        K.trim(t, 0, 10)
        with Broker({'r.yaml': routes['r.yaml'].replace('"earliest"', '"%s"' % reset)}) as b:
            b.wait_line(r'level=(warning|error).*%s.*Offset out of range' % t, 20)
            if reset == 'latest':
                until(lambda: figures(b) == [(15, 15, 15, 0)], 20, 'the end')
            K.produce(t, [(None, 'new')])
            if want:
                b.wait_line('got 15', 20)
            assert [int(m.group(1)) for m in (re.search(r'got (\d+)', line) for line in b.lines) if m] == want, b.log()
            b.stop()


def test_partitions_that_come_later():
    """Also when a reload came between: the member that came back is told."""
    t = K.topic(None, 1)
    with Broker(files(reader(t, says('one'), metadataMaxAgeMs=500))) as b:
        assigned(b, 1)
        reload(b, reader(t, says('two'), metadataMaxAgeMs=500))
        assigned(b, 1)
        K.grow(t, 3)
        K.produce(t, [(None, 'x', 2)])
        until(lambda: said(b, 'two') == [(t, '2', 'x')], 20, 'the record')
        b.stop()


def test_unreadable():
    """Two records of a partition that no deserializer takes, alone or in batches, with and without breakOnFirstError: as pollOnError says; the good ones before them are done and committed."""
    records = [(None, 'abcd'), (None, 'no'), (None, 'bad'), (None, 'abcd')]
    for what, done, committed in ('ERROR_HANDLER', 2, 4), ('DISCARD', 2, 4), ('RETRY', 1, 1), ('RECONNECT', 1, 1), ('STOP', 1, 1):
        for options in {}, {'breakOnFirstError': True}, {'batching': True, 'pollTimeoutMs': 300}, {'batching': True, 'pollTimeoutMs': 300, 'breakOnFirstError': True}:
            t = K.topic(None, 1)
            body = '${body.size()}' if 'batching' in options else '1'
            route = reader(t, {'log': 'good ' + body}, pollOnError=what, autoCommitEnable=False, valueDeserializer=INTEGER, **options)
            route['route']['errorHandler'] = {'deadLetterChannel': {'deadLetterUri': 'direct:dead'}}
            dead = {'route': {'id': 'dead', 'from': {'uri': 'direct:dead', 'steps': [{'log': 'dead ${header.CamelKafkaOffset} ${exception.message}'}]}}}
            with Broker(files(route, dead)) as b:
                assigned(b, 1)
                K.produce(t, records)
                until(lambda: K.committed('g-%s-r' % t, t, 1) == [committed], 10, '%s %s: committed %d' % (what, options, committed))
                bad = [line for line in b.lines if 'Error deserializing key/value for partition %s-0 at offset 1' % t in line]
                good = sum(int(m.group(1)) for m in (re.search(r'good (\d+)', line) for line in b.lines) if m)
                assert (good, len(bad)) == (done, 1) or what == 'RECONNECT' and good == done and bad, (what, options, b.log())
                if what == 'ERROR_HANDLER':
                    assert len([line for line in b.lines if 'msg="dead 1 Error' in line or 'msg="dead 2 Error' in line]) == 2, (options, b.log())
                began = time.monotonic()
                b.stop()
                assert time.monotonic() - began < 5 * SLOW, (what, options)
                assert K.committed('g-%s-r' % t, t, 1) == [committed], (what, options)


if __name__ == '__main__':
    with Kafka(settings=['group.min.session.timeout.ms=1000']) as K:
        main(globals())
