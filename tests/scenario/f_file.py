#!/usr/bin/env python3
"""The file component: what is read, when and how often; what is written; what dies, reloads and large files do to it."""
import os
import signal
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, main, setting, until

def consume(*options, steps=None, folder='in'):
    """A route that reads a folder; each file's name becomes a line of out/names."""
    # Broker.write makes NAME~ first
    lines = ['- from:', '    uri: file:%s' % folder, '    parameters:', '      initialDelay: 0', '      delay: 20', '      exclude: ".*~"']
    lines += ['      ' + o for o in options]
    lines += ['    steps:'] + (steps or [])
    lines += ['      - setBody: {simple: "${header.CamelFileName}"}',
              '      - to: {uri: "file:out", parameters: {fileName: names, fileExist: Append, appendChars: "\\\\n"}}']
    return '\n'.join(lines) + '\n'


def path(b, *names):
    return os.path.join(b.folder, *names)


def names(b):
    try:
        with open(path(b, 'out', 'names')) as f:
            return f.read().split('\n')[:-1]
    except FileNotFoundError:
        return []


def listing(b, *folder):
    try:
        return sorted(n for n in os.listdir(path(b, *folder)) if os.path.isfile(path(b, *folder, n)))
    except FileNotFoundError:
        return []


def wait_names(b, count, seconds=15):
    until(lambda: len(names(b)) >= count, seconds, '%d files' % count)
    return names(b)


def test_failed_files():
    """moveFailed takes them away; without it they are read again."""
    failing = ['      - filter: {simple: "${body} == \'bad\'", steps: [{throwException: {exceptionType: java.io.IOException, message: no}}]}']
    with Broker({'r.yaml': consume('moveFailed: .err', steps=failing), 'in/a': 'good', 'in/b': 'bad'}) as b:
        until(lambda: listing(b, 'in') == [] and listing(b, 'in', '.err') == ['b'], 10)
        assert names(b) == ['a'] and listing(b, 'in', '.camel') == ['a']
    with Broker({'r.yaml': consume('noop: true', steps=failing), 'in/a': 'good', 'in/b': 'bad'}) as b:
        until(lambda: b.log().count('Failed delivery') >= 3, 10)
        b.write('in/b', 'good')
        assert sorted(wait_names(b, 2)) == ['a', 'b']
        time.sleep(0.2)
        assert len(names(b)) == 2


def test_options_of_the_consumer():
    files = {'in/a.txt': 'aaa', 'in/b.txt': 'b', 'in/c.txt': 'cc', 'in/d.dat': '', 'in/sub/e.txt': ''}
    with Broker(dict(files, **{'r.yaml': consume('sortBy: "reverse:file:size"', 'delete: true', 'include: ".*[.]txt"')})) as b:
        assert wait_names(b, 3) == ['a.txt', 'c.txt', 'b.txt']
        until(lambda: listing(b, 'in') == ['d.dat'], 5)
        assert listing(b, 'in', 'sub') == ['e.txt']
    with Broker(dict(files, **{'r.yaml': consume('filterFile: "${file:size} > 1"', 'preMove: work', 'recursive: true')})) as b:
        assert sorted(wait_names(b, 2)) == ['a.txt', 'c.txt']
        until(lambda: listing(b, 'in', '.camel') + listing(b, 'in', 'work', '.camel') == ['a.txt', 'c.txt'], 5)
    with Broker(dict(files, **{'r.yaml': consume('noop: true', 'idempotentKey: "${file:ext}"', 'sortBy: "file:name"')})) as b:
        assert wait_names(b, 2) == ['a.txt', 'd.dat']
        time.sleep(0.2)
        assert len(names(b)) == 2
    with Broker({'r.yaml': consume('sendEmptyMessageWhenIdle: true', 'repeatCount: 2',
                                   steps=['      - setHeader: {name: CamelFileName, constant: none}'])}) as b:
        assert wait_names(b, 2) == ['none', 'none']
        time.sleep(0.2)
        assert len(names(b)) == 2


def test_read_lock_changed():
    """A file that still grows is not read; neither is one that another program has marked."""
    options = ('readLock: changed', 'readLockCheckInterval: 300', 'readLockTimeout: 60000')
    with Broker({'r.yaml': consume(*options, steps=['      - to: {uri: "file:copy"}'])}) as b:
        os.makedirs(path(b, 'in'), exist_ok=True)
        with open(path(b, 'in', 'slow'), 'w') as f:
            for _ in range(10):
                f.write('x' * 1000)
                f.flush()
                time.sleep(0.1)
            assert names(b) == []
        wait_names(b, 1)
        assert os.path.getsize(path(b, 'copy', 'slow')) == 10000
    with Broker({'r.yaml': consume('readLock: markerFile'), 'in/a': 'a', 'in/a.camelLock': '', 'in/b': 'b'}) as b:
        assert wait_names(b, 1) == ['b']
        time.sleep(0.2)
        assert names(b) == ['b']
        os.unlink(path(b, 'in', 'a.camelLock'))
        assert wait_names(b, 2) == ['b', 'a']
        until(lambda: listing(b, 'in') == [], 5)


def test_done_file_for_all():
    """One done file for a folder goes when the last file has been read."""
    with Broker({'r.yaml': consume('doneFileName: ready'), 'in/a': '', 'in/b': ''}) as b:
        time.sleep(0.2)
        assert names(b) == []
        b.write('in/ready', '')
        assert sorted(wait_names(b, 2)) == ['a', 'b']
        until(lambda: listing(b, 'in') == [], 5)


def test_reloads_read_each_file_once():
    count = setting('FILES', 150)
    with Broker({'r.yaml': consume('sortBy: "file:name"', steps=['      - delay: {constant: "5"}'])}) as b:
        stop = threading.Event()

        def feed():
            for i in range(count):
                b.write('in/%04d' % i, 'x')
                time.sleep(0.005)
            stop.set()
        feeder = threading.Thread(target=feed)
        feeder.start()
        reloads = 0
        while not stop.is_set():
            b.hinny('reload', '--wait', check=True)
            reloads += 1
        feeder.join()
        got = [n for n in wait_names(b, count, 30) if not n.endswith('~')]
        print('%d reloads, %d files' % (reloads, len(got)))
        assert sorted(got) == ['%04d' % i for i in range(count)], sorted(got)
        until(lambda: listing(b, 'in') == [], 5)


def test_reloads_and_deaths_forget_no_key():
    """noop: each file is read once, whoever reads it."""
    count = setting('FILES', 100)
    with Broker({'r.yaml': consume('noop: true', steps=['      - delay: {constant: "3"}'])}) as b:
        for i in range(count):
            b.write('in/%04d' % i, 'x')
            if i % 20 == 10:
                b.hinny('reload', '--wait', check=True)
        wait_names(b, count, 30)
        for _ in range(3):
            b.hinny('reload', '--wait', check=True)
        got = [n for n in names(b) if not n.endswith('~')]
        assert sorted(got) == ['%04d' % i for i in range(count)], sorted(got)
        for pid in b.workers('file'):
            os.kill(pid, signal.SIGKILL)
        until(lambda: b.workers('file'), 10)
        b.write('in/last', 'x')
        until(lambda: 'last' in names(b), 10)
        time.sleep(0.2)
        assert len([n for n in names(b) if not n.endswith('~')]) == count + 1


def test_worker_killed():
    """Every file is read, at least once: a file goes only when its exchange is done."""
    count = setting('FILES', 100)
    files = {'in/%04d' % i: 'x' for i in range(count)}
    files['r.yaml'] = consume(steps=['      - delay: {constant: "5"}'])
    with Broker(files) as b:
        for _ in range(4):
            time.sleep(0.15)
            for pid in b.workers('file'):
                os.kill(pid, signal.SIGKILL)
        until(lambda: listing(b, 'in') == [], 30)
        assert set(names(b)) == set('%04d' % i for i in range(count))
        assert len(names(b)) <= count + 4


def test_stop_finishes_the_file():
    with Broker({'r.yaml': consume(steps=['      - log: begun', '      - delay: {constant: "700"}']), 'in/a': 'a', 'in/b': 'b'}) as b:
        b.wait_line('begun')
        assert b.stop() == 0
        assert len(names(b)) == 1
        assert sorted(listing(b, 'in') + listing(b, 'in', '.camel')) == ['a', 'b']
        assert listing(b, 'in', '.camel') == names(b)


def test_large_files():
    data = os.urandom(1 << 20) * setting('FILE_MIB', 20)
    copy = ['      - to: "file:copy"']
    with Broker({'r.yaml': consume('moveFailed: .err', steps=copy), 'in/large': data}) as b:
        wait_names(b, 1, 30)
        with open(path(b, 'copy', 'large'), 'rb') as f:
            assert f.read() == data
    with Broker({'r.yaml': consume('moveFailed: .err', steps=copy), 'in/large': data}, settings=['http.max_body=1MiB']) as b:
        until(lambda: listing(b, 'in', '.err') == ['large'], 10)
        b.wait_line('larger than max_body')


WRITER = '''
- from:
    uri: platform-http:/w
    steps:
      - to: {uri: "file:out", parameters: {fileName: names, fileExist: Append, appendChars: "\\\\n"}}
      - setBody: {simple: "${header.CamelFileNameProduced}"}
- from:
    uri: platform-http:/bad
    steps:
      - to: "file:r.yaml/x?fileName=a"
'''


def test_many_writers():
    """Lines that come at once stay whole; the answer says what was written."""
    lines = ['%03d' % i + 'x' * (i * 97 % 5000) for i in range(200)]
    with Broker({'r.yaml': WRITER}) as b:
        failed = []

        def send(part):
            for line in part:
                status, _, got = b.post('/w', line.encode(), {'Content-Type': 'text/plain'})
                if status != 200 or got != b'out/names':
                    failed.append((status, got))
        threads = [threading.Thread(target=send, args=(lines[i::10],)) for i in range(10)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failed, failed[:3]
        assert sorted(names(b)) == sorted(lines)
        assert b.post('/bad', b'x', {'Content-Type': 'text/plain'})[0] == 500
        b.wait_line('Cannot store file: r.yaml/x/a')


POLL = '''
- from:
    uri: platform-http:/p
    steps:
      - pollEnrich: {simple: "file:in?${header.q}", timeout: "${header.t}"}
      - setBody: {simple: "${header.CamelFileName}=${body}"}
'''


def test_poll_enrich():
    route = POLL.replace('"${header.t}"', '"300"')
    with Broker({'r.yaml': route, 'in/a': 'A', 'in/b': 'B'}) as b:
        assert b.get('/p?q=sortBy%3Dreverse:file:name')[2] == b'b=B'
        until(lambda: listing(b, 'in', '.camel') == ['b'], 5)
        assert b.get('/p?q=noop%3Dtrue')[2] == b'a=A'
        assert b.get('/p?q=noop%3Dtrue')[2] == b'='  # it was read
        assert b.get('/p?q=delete%3Dtrue')[2] == b'a=A'
        assert listing(b, 'in') == []
        late = threading.Timer(0.1, lambda: b.write('in/c', 'C'))
        late.start()
        assert b.get('/p?q=include%3Dc')[2] == b'c=C'
        late.join()
        assert b.get('/p?q=shuffle%3Dtrue')[0] == 500
        assert b.get('/p?q=nosuch%3Dtrue')[0] == 500


if __name__ == '__main__':
    main(globals())
