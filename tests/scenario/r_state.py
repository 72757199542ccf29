#!/usr/bin/env python3
"""The state of steps over reloads, deaths and the end of the broker: groups of an aggregate that two http workers share, whose owner changes with each generation."""
import os
import random
import re
import signal
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, SLOW, alive, main, setting, until

RELOADS = setting('STATE_RELOADS', 25, 100)
SIZE, KEYS = 5, 7

ROUTES = '''
- beans:
    - name: joined
      type: org.apache.camel.processor.aggregate.StringAggregationStrategy
      properties: {delimiter: "+"}
- route:
    id: now
    from: {uri: "platform-http:/now", steps: [{to: "direct:take"}]}
- route:
    id: later
    from: {uri: "platform-http:/later", steps: [{delay: {constant: "400"}}, {to: "direct:take"}]}
- route:
    id: take
    from:
      uri: direct:take
      steps:
        - aggregate:
            id: groups
            correlationExpression: {header: k}
            aggregationStrategy: "#joined"
            completionSize: %d
            forceCompletionOnStop: true
            steps: [{log: "GROUP ${body}"}]
        - setBody: {constant: taken}
''' % SIZE


def broker(routes=ROUTES, workers=2, **options):
    return Broker({'r.yaml': routes, 'hinny.yaml': 'routes: [r.yaml]\nworkers: {http: {instances: %d}}\n' % workers}, routes=[], args=['-c', 'hinny.yaml'], **options)


def groups(b):
    """What completed, in order: lists of message numbers."""
    found = (re.search(r'GROUP ([0-9+]*)', line) for line in list(b.lines))
    return [[int(n) for n in m.group(1).split('+')] for m in found if m]


class Senders:
    """Threads that send numbered messages, and know which ones were answered."""
    def __init__(self, b, n=6, slow=2, pace=0.0):
        self.b, self.stop, self.lock, self.next = b, False, threading.Lock(), 0
        self.taken, self.unsure, self.worst, self.pace = set(), {}, 0, pace
        self.threads = [threading.Thread(target=self._run, daemon=True, args=('/later' if i < slow else '/now',)) for i in range(n)]
        for t in self.threads:
            t.start()

    def _run(self, path):
        while not self.stop:
            with self.lock:
                n = self.next
                self.next += 1
            began = time.monotonic()
            try:
                answer = self.b.post(path, str(n).encode(), {'k': str(n % KEYS)}, timeout=60)
                good = answer[:1] == (200,)
            except OSError as e:
                answer, good = repr(e), False
            with self.lock:
                self.worst = max(self.worst, time.monotonic() - began)
                if good:
                    self.taken.add(n)
                else:
                    self.unsure[n] = '%s after %.3f s: %r' % (path, time.monotonic() - began, answer)
            time.sleep(self.pace if good else 0.01)

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join()


def check(b, s, lost=False):
    """After the end: each message that was answered is in one group, once; but for the last, all groups are whole."""
    assert b.proc.wait(20 * SLOW) == 0
    b.reader.join(10)
    seen = [n for g in groups(b) for n in g]
    assert len(seen) == len(set(seen)), 'in two groups: %r' % [n for n in set(seen) if seen.count(n) > 1][:5]
    missing = s.taken - set(seen)
    assert lost or not missing, (len(missing), sorted(missing)[:5])
    short = [g for g in groups(b) if len(g) != SIZE]
    assert lost or len(short) <= KEYS, short
    for g in groups(b):
        assert len(g) <= SIZE and len({n % KEYS for n in g}) == 1, g
    return len(seen)


def reload(b):
    b.hinny('reload', '--wait', check=True)


def ends(b):
    b.signal(signal.SIGTERM)


def test_reloads_under_load():
    with broker() as b:
        s = Senders(b)
        for _ in range(RELOADS):
            reload(b)
        s.end()
        assert not s.unsure, sorted(s.unsure.items())[:5]
        ends(b)
        n = check(b, s)
        assert n == len(s.taken), (n, len(s.taken))
        assert 'lost' not in b.log() and 'level=error' not in b.log(), b.log()[-2000:]
        print('%d messages, %d reloads, worst %.2f s' % (n, RELOADS, s.worst))


def test_the_owner_changes_its_kind():
    """With one http worker the groups are its own, with two they are those of flow."""
    with broker() as b:
        s = Senders(b)
        for i in range(10):
            b.write('hinny.yaml', 'routes: [r.yaml]\nworkers: {http: {instances: %d}}\n' % (1 + i % 2))
            reload(b)
        s.end()
        assert not s.unsure, sorted(s.unsure.items())[:5]
        assert len(b.workers('flow')) >= 1
        ends(b)
        check(b, s)


def test_one_worker_alone():
    """It opens an inbox only when another generation may ask."""
    with broker(workers=1) as b:
        assert not b.workers('flow')
        s = Senders(b)
        for _ in range(5):
            reload(b)
        s.end()
        assert not s.unsure, sorted(s.unsure.items())[:5]
        ends(b)
        check(b, s)


def test_a_step_that_is_gone():
    """What it holds is completed by the old generation when nothing is in flight there any more."""
    with broker() as b:
        for n in range(3):
            assert b.post('/now', str(7 * n).encode(), {'k': '0'})[0] == 200
        late = threading.Thread(target=lambda: b.post('/later', b'21', {'k': '0'}))
        late.start()
        time.sleep(0.1)
        b.write('r.yaml', ROUTES.replace('id: groups', 'id: others'))
        reload(b)
        b.wait_line(r'state of .*groups.* stay with the old generation')
        assert b.post('/now', b'28', {'k': '0'})[0] == 200
        late.join()
        until(lambda: groups(b))
        assert groups(b) == [[0, 7, 14, 21]], groups(b)
        ends(b)
        b.proc.wait(10 * SLOW)
        b.reader.join(10)
        assert groups(b)[1:] == [[28]], groups(b)


KEYS_ROUTE = '''
- beans:
    - name: keys
      type: org.apache.camel.support.processor.idempotent.MemoryIdempotentRepository
      properties: {cacheSize: 100000}
- route:
    id: now
    from:
      uri: platform-http:/once
      steps:
        - idempotentConsumer:
            id: once
            expression: {header: id}
            idempotentRepository: "#bean:keys"
            steps:
              - delay: {simple: "${random(1,40)}"}
              - log: "ONCE ${header.id}."
        - setBody: {constant: done}
'''


def twice(b, numbers, stop):
    """Each number is sent at two times at once, and again until it has been answered."""
    def one(n):
        while True:
            try:
                if b.post('/once', b'x', {'id': str(n)}, timeout=60)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.02)
    for n in numbers:
        other = threading.Thread(target=one, args=(n,), daemon=True)
        other.start()
        one(n)
        other.join()
        if stop():
            return n
    return n


def send_ids(b, during):
    """How often each id went through the steps, and which were sent."""
    stop, sent = [], []
    ts = [threading.Thread(target=lambda i=i: sent.append((i, twice(b, range(i, 10**9, 4), lambda: stop))), daemon=True) for i in range(4)]
    for t in ts:
        t.start()
    during()
    stop.append(True)
    for t in ts:
        t.join()
    ends(b)
    assert b.proc.wait(20 * SLOW) == 0
    b.reader.join(10)
    found = [int(m.group(1)) for m in (re.search(r'ONCE (\d+)\.', line) for line in b.lines) if m]
    return found, [n for i, last in sent for n in range(i, last + 1, 4)]


def test_no_key_goes_through_twice():
    with broker(KEYS_ROUTE) as b:
        def reloads():
            for i in range(RELOADS):
                b.write('hinny.yaml', 'routes: [r.yaml]\nworkers: {http: {instances: %d}}\n' % (1 + i % 2))
                reload(b)
        found, sent = send_ids(b, reloads)
        assert sorted(found) == sorted(sent), (len(found), len(set(found)), len(sent))
        assert 'level=error' not in b.log()
        print('%d keys' % len(sent))


def test_no_key_stays_with_a_home_that_was_killed():
    """What was cut off with its worker is processed when it comes again."""
    with broker(KEYS_ROUTE) as b:
        found, sent = send_ids(b, lambda: kill_some(b, 'http', 8))
        assert set(found) == set(sent), sorted(set(sent) - set(found))[:5]


def test_drain_and_reload_keep_it():
    with broker() as b:
        for n in range(4):
            assert b.post('/now', str(7 * n).encode(), {'k': '0'})[0] == 200
        until(lambda: [w['held'] for w in b.status()['workers'] if w['kind'] == 'flow'] == [1], what='one group that is held')
        b.hinny('drain', check=True)
        until(lambda: b.status()['generations'][0]['state'] == 'drained')
        assert not groups(b)
        reload(b)
        assert b.post('/now', b'28', {'k': '0'})[0] == 200
        until(lambda: groups(b))
        assert groups(b) == [[0, 7, 14, 21, 28]]


def kill_some(b, kind, times, pause=0.3):
    for _ in range(times):
        time.sleep(pause * random.random() + 0.1)
        pids = b.workers(kind)
        if pids:
            os.kill(random.choice(pids), signal.SIGKILL)


def test_homes_are_killed():
    """What the owner has taken is not lost with them."""
    with broker() as b:
        s = Senders(b)
        kill_some(b, 'http', 8)
        time.sleep(0.5)
        s.end()
        ends(b)
        check(b, s)
        assert s.worst < 10 * SLOW, (s.worst, [l for l in b.lines if 'Deadline' in l or 'inbox' in l or 'time' in l[30:]][:5])


def test_the_owner_is_killed():
    """Its groups are gone, and nothing else: later ones are whole, and nobody waits for an answer that does not come."""
    with broker() as b:
        s = Senders(b)
        kill_some(b, 'flow', 5)
        until(lambda: b.workers('flow'))
        time.sleep(0.5)
        s.end()
        ends(b)
        check(b, s, lost=True)
        assert len(s.unsure) < len(s.taken), (len(s.unsure), len(s.taken))
        assert s.worst < 10 * SLOW, (s.worst, [l for l in b.lines if 'Deadline' in l or 'inbox' in l or 'time' in l[30:]][:5])


def test_killed_in_the_middle_of_reloads():
    with broker() as b:
        s = Senders(b)
        killer = threading.Thread(target=lambda: (kill_some(b, 'flow', 6), kill_some(b, 'http', 6)))
        killer.start()
        while killer.is_alive():
            b.hinny('reload')
            time.sleep(0.05)
        killer.join()
        until(lambda: len(b.status()['generations']) == 1, 20)
        time.sleep(0.3)
        s.end()
        ends(b)
        check(b, s, lost=True)
        assert s.worst < 10 * SLOW, (s.worst, [l for l in b.lines if 'Deadline' in l or 'inbox' in l or 'time' in l[30:]][:5])


def test_the_supervisor_is_killed():
    """The workers finish by themselves: what is in flight still comes to its group, and the groups are completed."""
    with broker() as b:
        for n in range(3):
            assert b.post('/now', str(7 * n).encode(), {'k': '0'})[0] == 200
        pids = b.pids()[1:]
        late = threading.Thread(target=lambda: b.post('/later', b'21', {'k': '0'}))
        late.start()
        time.sleep(0.15)
        b.proc.kill()
        late.join()
        until(lambda: not [p for p in pids if alive(p)], 15, 'the end of the workers')
        b.reader.join(10)
        assert groups(b) == [[0, 7, 14, 21]], (groups(b), b.log())


main(globals())
