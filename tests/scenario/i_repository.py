#!/usr/bin/env python3
"""idempotentConsumer, resequence and shared variables with several processes: one repository for all workers, retries, deaths of workers, reloads under load, the end of the broker."""
import os
import signal
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, main, setting, until

TEXT = {'Content-Type': 'text/plain'}
TWO = ('workers.http.instances=2',)
MEMORY = 'org.apache.camel.support.processor.idempotent.MemoryIdempotentRepository'
BEAN = '- beans: [{name: seen, type: %s, properties: {cacheSize: 100000}}]\n' % MEMORY


def idempotent(steps, more='', path='/t'):
    return '''
- from:
    uri: platform-http:%s
    steps:
      - idempotentConsumer:
          header: id
          idempotentRepository: seen
          %s
          steps: [%s]
''' % (path, more, steps)


NEW = '{setBody: {constant: new}}'
FAILS = '{filter: {header: fail, steps: [{throwException: {exceptionType: java.io.IOException, message: x}}]}}'


def send(b, i, more='', path='/t'):
    """Status and body."""
    answer = b.post('%s?id=%s%s' % (path, i, more), b'old', TEXT)
    return answer[0], answer[2]


class Flood:
    """Every id of a range is sent `times` times, from several connections at a time, until it is stopped or through. What was answered is counted by id."""

    def __init__(self, b, ids, times=1, threads=6):
        self.b, self.times, self.lock = b, times, threading.Lock()
        self.todo = iter([i for i in ids for _ in range(times)])
        self.new, self.old, self.failed = {}, {}, []
        self.stopped = False
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]
        for t in self.threads:
            t.start()

    def run(self):
        while not self.stopped:
            with self.lock:
                i = next(self.todo, None)
            if i is None:
                return
            try:
                status, body = send(self.b, i)
            except OSError:
                status, body = 0, b''
            with self.lock:
                if status == 200:
                    count = self.new if body == b'new' else self.old
                    count[i] = count.get(i, 0) + 1
                else:
                    self.failed.append(i)

    def wait(self):
        for t in self.threads:
            t.join()


def test_one_repository_for_all_workers():
    n = setting('IDS', 400)
    with Broker({'r.yaml': BEAN + idempotent(NEW)}, settings=TWO) as b:
        assert len(b.workers('http')) == 2
        f = Flood(b, range(n), times=3)
        f.wait()
        assert f.failed == []
        assert f.new == {i: 1 for i in range(n)}
        assert f.old == {i: 2 for i in range(n)}
        assert b.stop() == 0


def test_a_retry_is_no_duplicate():
    """Whoever has been told that it failed may send it again at once, to any worker."""
    with Broker({'r.yaml': BEAN + idempotent(FAILS + ', ' + NEW) + idempotent(FAILS + ', ' + NEW, 'eager: false', '/lazy')}, settings=TWO) as b:
        for path in ('/t', '/lazy'):
            for i in range(setting('RETRIES', 150)):
                i = '%s%d' % (path[1:], i)
                assert send(b, i, '&fail=true', path)[0] == 500
                assert send(b, i, '', path) == (200, b'new'), i
                assert send(b, i, '', path) == (200, b'old'), i


def test_hundred_reloads_process_no_id_twice():
    reloads = setting('RELOADS', 12, 100)
    with Broker({'r.yaml': BEAN + idempotent(NEW)}, settings=TWO) as b:
        f = Flood(b, range(10 ** 6), times=2)
        for i in range(reloads):
            b.hinny('reload', '--wait', check=True, timeout=120)
        f.stopped = True
        f.wait()
        assert f.failed == [], f.failed[:5]
        twice = [i for i, n in f.new.items() if n != 1]
        assert twice == [], twice[:5]
        assert len(f.new) > reloads, len(f.new)
        first = min(f.new)
        assert send(b, first) == (200, b'old')  # from before all reloads


def test_keys_of_a_killed_worker_are_given_back():
    routes = BEAN + idempotent('{filter: {header: slow, steps: [{log: "holds its key"}, {delay: {constant: 60000}}]}}, ' + NEW)
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        assert send(b, 'done') == (200, b'new')
        held = ['h%d' % i for i in range(8)]

        def slow(i):
            try:
                send(b, i, '&slow=true')
            except OSError:
                pass
        threads = [threading.Thread(target=slow, args=(i,)) for i in held]
        for t in threads:
            t.start()
        until(lambda: b.log().count('holds its key') == len(held), 10, 'all keys are held')
        assert all(send(b, i) == (200, b'old') for i in held)
        pids = b.workers('http')
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for t in threads:
            t.join()
        until(lambda: len(b.workers('http')) == 2 and not set(pids) & set(b.workers('http')), 10, 'new workers')
        for i in held:
            until(lambda: send(b, i) == (200, b'new') or None, 5, 'the key of %s is free' % i)
        assert send(b, 'done') == (200, b'old')


def test_kills_under_load():
    """Whatever dies, what was answered as new was processed once, and what was not answered can be sent again."""
    with Broker({'r.yaml': BEAN + idempotent(NEW)}, settings=TWO) as b:
        f = Flood(b, range(setting('IDS', 400, 4000)))
        for _ in range(setting('KILLS', 4, 20)):
            time.sleep(0.1)
            workers = b.workers('http')
            if workers:
                os.kill(workers[0], signal.SIGKILL)
        f.wait()
        assert all(n == 1 for n in f.new.values())
        for i in set(f.failed):
            until(lambda: send(b, i)[0] == 200, 10)
            assert send(b, i) == (200, b'old')


def test_an_owner_that_dies_forgets_and_goes_on():
    with Broker({'r.yaml': BEAN + idempotent(NEW)}, settings=TWO) as b:
        assert send(b, 1) == (200, b'new')
        flow = b.workers('flow')
        os.kill(flow[0], signal.SIGKILL)
        until(lambda: b.workers('flow') not in ([], flow), 10, 'a new owner')
        until(lambda: send(b, 1)[0] == 200, 10)
        assert send(b, 1) == (200, b'old')


def test_items_at_home_need_no_other_worker():
    routes = BEAN + '''
- from:
    uri: file:in?delete=true&initialDelay=0&delay=50
    steps:
      - split:
          tokenize: "\\n"
          streaming: true
          steps:
            - idempotentConsumer:
                simple: "${body}"
                idempotentRepository: seen
                steps:
                  - to: {uri: "file:out", parameters: {fileName: lines, fileExist: Append, appendChars: "\\n"}}
'''
    lines = ['line %d' % (i % 100) for i in range(2000)]
    with Broker({'r.yaml': routes, 'in/a.txt': '\n'.join(lines)}) as b:
        until(lambda: read(b, 'lines') == ['line %d' % i for i in range(100)], 20)
        assert b.workers('flow') == []


# ---- resequence ----

OUT = 'to: {uri: "file:out", parameters: {fileName: out, fileExist: Append, appendChars: "\\n"}}'


def read(b, name='out'):
    try:
        with open(os.path.join(b.folder, 'out', name)) as f:
            return f.read().split('\n')[:-1]
    except FileNotFoundError:
        return []


def resequence(config, steps=OUT):
    return '''
- from:
    uri: platform-http:/t
    steps:
      - resequence:
          header: id
          %s
          steps: [{setBody: {simple: "${header.id}"}}, {%s}]
      - setBody: {constant: taken}
''' % (config, steps)


def test_a_batch_of_two_workers():
    with Broker({'r.yaml': resequence('batchConfig: {batchSize: 50, batchTimeout: 60s}')}, settings=TWO) as b:
        ids = ['%03d' % (i * 7 % 100) for i in range(100)]
        for i in ids:
            assert send(b, i) == (200, b'taken')
        until(lambda: len(read(b)) == 100, 10)
        assert read(b) == sorted(ids[:50]) + sorted(ids[50:])


def test_a_stream_over_reloads():
    n = setting('MESSAGES', 300, 900)  # below its capacity
    with Broker({'r.yaml': resequence('streamConfig: {timeout: 60s, deliveryAttemptInterval: 50}')}, settings=TWO) as b:
        assert send(b, 0) == (200, b'taken')  # it waits for what is before it, which never comes
        order = [i + 1 if i % 2 else i - 1 for i in range(1, n + 1)]  # 2 1 4 3 …
        for i in order:
            if i % 60 == 0:
                b.hinny('reload', '--wait', check=True)
            assert send(b, i) == (200, b'taken')
        assert read(b) == []
        assert b.stop() == 0
        assert read(b) == [str(i) for i in sorted([0] + order)]


def test_what_waits_leaves_at_the_end():
    with Broker({'r.yaml': resequence('batchConfig: {batchSize: 50, batchTimeout: 60s}')}, settings=TWO) as b:
        for i in ('3', '1', '2'):
            assert send(b, i) == (200, b'taken')
        assert read(b) == []
        assert b.stop() == 0
        assert read(b) == ['1', '2', '3']


def test_a_full_stream_holds_back():
    routes = resequence('streamConfig: {capacity: 2, timeout: 400, deliveryAttemptInterval: 100}')
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        since = time.monotonic()
        for i in (9, 7, 5, 3):
            assert send(b, i) == (200, b'taken')
        assert time.monotonic() - since > 0.3  # the third waited for room
        until(lambda: len(read(b)) == 4, 10)
        assert sorted(read(b)) == ['3', '5', '7', '9']


# ---- variables ----

def test_variables_of_all_workers():
    routes = '''
- from:
    uri: platform-http:/set
    steps:
      - setVariable: {name: "global:x", simple: "${body}"}
      - to: {uri: "direct:sub", variableSend: "global:x", variableReceive: "route:%s:y"}
      - setBody: {constant: set}
- from:
    uri: platform-http:/get
    steps:
      - setBody: {simple: "${variable.global:x} ${variable.route:%s:y}"}
- from:
    uri: direct:sub
    steps:
      - setBody: {simple: "<${body}>"}
''' % ('r', 'r')
    with Broker({'r.yaml': routes}, settings=TWO) as b:
        for i in range(setting('SETS', 50)):
            assert b.post('/set', b'%d' % i, TEXT)[2] == b'set'
            assert b.get('/get')[2] == b'%d <%d>' % (i, i)
            if i % 20 == 10:
                b.hinny('reload', '--wait', check=True)
                assert b.get('/get')[2] == b'%d <%d>' % (i, i)
        for pid in b.workers('http'):
            os.kill(pid, signal.SIGKILL)
        until(lambda: len(b.workers('http')) == 2, 10)
        until(lambda: b.get('/get')[2] == b'%d <%d>' % (i, i), 10)
        assert b.stop() == 0


if __name__ == '__main__':
    main(globals())
