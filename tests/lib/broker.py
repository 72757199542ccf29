"""A broker of the test's own: a fresh folder, a free port, `hinny run` on the route files given. Everything waits for events with deadlines.

    with Broker({'r.yaml': ROUTES}) as b:
        status, headers, body = b.post('/hello', b'text')

Environment (set by make check): HINNY_BUILDDIR, HINNY_SRCDIR, HINNY_SANITIZED; by make soak also HINNY_SOAK=1.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get('HINNY_BUILDDIR', os.getcwd())
SRC = os.environ.get('HINNY_SRCDIR', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
SANITIZED = bool(os.environ.get('HINNY_SANITIZED', '').strip())
SOAK = bool(os.environ.get('HINNY_SOAK', '').strip())  # make soak: long, and times are held exactly
SLOW = 5 if SANITIZED else 1  # deadlines are this much longer
EXAMPLES = os.path.join(SRC, 'conf', 'examples')
SANITIZER_REPORT = re.compile(r'(Address|Leak|UndefinedBehavior|Thread)Sanitizer|\.[ch]:\d+:\d+: runtime error:')

_ports = set()


def free_port():
    while True:
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            port = s.getsockname()[1]
        if port not in _ports:
            _ports.add(port)
            return port


def until(condition, seconds=10, what='condition'):
    """Waits until condition() is true and returns its value; fails at the deadline."""
    end = time.monotonic() + seconds * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError('%s did not come true within %g s' % (what, seconds * SLOW))
        time.sleep(0.005)


def env():
    e = dict(os.environ)
    e.setdefault('HINNY_LIBEXECDIR', BUILD)
    e.setdefault('ASAN_OPTIONS', 'detect_leaks=1:abort_on_error=0:exitcode=99')
    return e


def hinny(*args, cwd=None, check=False, stdin=None, timeout=60):
    """Runs the command; returns (status, stdout, stderr)."""
    p = subprocess.run([os.path.join(BUILD, 'hinny')] + list(args), cwd=cwd, env=env(), input=stdin, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=timeout * SLOW)
    out, err = p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')
    if check and p.returncode != 0:
        raise AssertionError('hinny %s: status %d\n%s%s' % (' '.join(args), p.returncode, out, err))
    return p.returncode, out, err


def check(files, *args):
    """hinny check on files, name -> text; returns (status, stdout, stderr)."""
    with tempfile.TemporaryDirectory(prefix='ht-') as folder:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        return hinny('check', *args, *[n for n in files if n.endswith('.yaml')], cwd=folder)


class Broker:
    def __init__(self, files, args=(), settings=(), properties=(), port=None, routes=None, extra_env=None, wait=True, watch=False, command=None):
        """files: name -> text or bytes, written into a fresh folder. routes: the names given to hinny run (default: all *.yaml).
        command: what is run instead of `hinny run` on them, such as ['hinnyd', '-c', 'hinny.yaml']; the options --dir, --set and --property follow."""
        self.folder = tempfile.mkdtemp(prefix='ht-')
        for name, data in files.items():
            self.write(name, data)
        self.port = port or free_port()
        self.rundir = os.path.join(self.folder, 'run')
        names = routes if routes is not None else [n for n in files if n.endswith('.yaml')]
        if command is None:
            argv = [os.path.join(BUILD, 'hinny'), 'run', '--port', str(self.port), '--dir', self.rundir]
            argv += [] if watch else ['--no-watch']
        else:
            argv = list(command) + ['--dir', self.rundir]
            names = []
        for s in settings:
            argv += ['--set', s]
        for p in properties:
            argv += ['--property', p]
        e = env()
        e.update(extra_env or {})
        self.lines = []
        self.started = time.monotonic()
        self.proc = subprocess.Popen(argv + list(args) + list(names), cwd=self.folder, env=e, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if wait:
            try:
                self.wait_line(r'^hinny: ready in' if command is None else r'ready in \d+ ms', 20)
            except AssertionError:
                self.close()
                raise

    def _read(self):
        for raw in self.proc.stdout:
            self.lines.append(raw.decode('utf-8', 'replace').rstrip('\n'))

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '~', 'wb') as f:
            f.write(data if isinstance(data, bytes) else data.encode('utf-8'))
        os.rename(path + '~', path)
        return path

    def log(self):
        return '\n'.join(self.lines)

    def wait_line(self, pattern, seconds=10, start=0):
        """Waits for a line of output (from index start on) and returns the match."""
        def look():
            for line in self.lines[start:]:
                m = re.search(pattern, line)
                if m:
                    return m
            if self.proc.poll() is not None and not self.reader.is_alive():
                raise AssertionError('the broker ended with status %s:\n%s' % (self.proc.returncode, self.log()))
            return None
        try:
            return until(look, seconds, 'a line matching %r' % pattern)
        except AssertionError as e:
            raise AssertionError('%s\n%s' % (e, self.log()[-3000:])) from None

    # ---- talking

    def request(self, method, path, body=None, headers=None, timeout=15):
        con = http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout * SLOW)
        try:
            con.request(method, path, body=body, headers=headers or {})
            ans = con.getresponse()
            data = ans.read()
            return ans.status, {k.lower(): v for k, v in ans.getheaders()}, data
        finally:
            con.close()

    def get(self, path, headers=None, **kw):
        return self.request('GET', path, None, headers, **kw)

    def post(self, path, body, headers=None, **kw):
        return self.request('POST', path, body, headers, **kw)

    def connect(self, timeout=10):
        return socket.create_connection(('127.0.0.1', self.port), timeout * SLOW)

    def raw(self, data, timeout=10, end=None):
        """Sends bytes, returns all bytes up to the close (or until `end` is in them)."""
        with self.connect(timeout) as s:
            s.sendall(data)
            return read_all(s, end)

    def hinny(self, *args, **kw):
        return hinny(*(list(args) + ['--dir', self.rundir]), **kw)

    def admin(self, request):
        """One request on the admin socket; its answer."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10 * SLOW)
            s.connect(os.path.join(self.rundir, 'admin.sock'))
            s.sendall(json.dumps(request).encode() + b'\n')
            data = b''
            while not data.endswith(b'\n'):
                more = s.recv(1 << 16)
                if not more:
                    break
                data += more
            return json.loads(data)

    def status(self):
        return json.loads(self.hinny('status', '--json', check=True)[1])

    # ---- its processes

    def workers(self, kind=None):
        """pids of worker processes, by kind."""
        out = []
        for pid in children(self.proc.pid):
            name = comm(pid)
            if name.startswith('hinny-') and (kind is None or name == 'hinny-' + kind):
                out.append(pid)
        return out

    def worker(self, name, generation=None):
        """The row of `hinny workers` for the newest generation that has it."""
        rows = [w for w in self.status()['workers'] if w['name'] == name and (generation is None or w['generation'] == generation)]
        return max(rows, key=lambda w: w['generation']) if rows else None

    def pids(self):
        """The supervisor and all its workers."""
        return [self.proc.pid] + children(self.proc.pid)

    def pss_kib(self):
        return pss_kib(self.pids())

    def signal(self, sig):
        self.proc.send_signal(sig)

    def stop(self, timeout=15):
        """SIGTERM; returns the exit status."""
        if self.proc.poll() is None:
            self.proc.send_signal(signal.SIGTERM)
        status = self.proc.wait(timeout * SLOW)
        self.reader.join(5)
        return status

    def close(self):
        try:
            if self.proc.poll() is None:
                self.proc.send_signal(signal.SIGTERM)
                try:
                    self.proc.wait(10 * SLOW)
                except subprocess.TimeoutExpired:
                    pass
            if self.proc.poll() is None:
                os.killpg(self.proc.pid, signal.SIGKILL)
                self.proc.wait(10)
            self.reader.join(5)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        self.close()
        bad = [line for line in self.lines if SANITIZER_REPORT.search(line)]
        if kind is not None:
            sys.stderr.write('--- the broker said\n%s\n---\n' % self.log()[-6000:])
        elif bad:
            raise AssertionError('a sanitizer reported:\n%s' % self.log()[-6000:])


def children(pid):
    out = []
    try:
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, task)) as f:
                out += [int(x) for x in f.read().split()]
    except OSError:
        pass
    return out


def descendants(pid):
    out = []
    for child in children(pid):
        out += [child] + descendants(child)
    return out


def comm(pid):
    try:
        with open('/proc/%d/comm' % pid) as f:
            return f.read().strip()
    except OSError:
        return ''


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def pss_kib(pids, kind='Pss'):
    total = 0
    for p in pids:
        try:
            with open('/proc/%d/smaps_rollup' % p) as f:
                total += int(re.search(r'^%s:\s+(\d+)' % kind, f.read(), re.M).group(1))
        except (OSError, AttributeError):
            pass
    return total


def own_kib(pids):
    """Memory that is theirs alone: PSS without files, which others may come to share."""
    return pss_kib(pids, 'Pss_Anon') + pss_kib(pids, 'Pss_Shmem')


def read_all(s, end=None):
    data = b''
    while end is None or end not in data:
        try:
            part = s.recv(65536)
        except (ConnectionResetError, socket.timeout):
            break
        if not part:
            break
        data += part
    return data


def setting(name, ci, soak=None):
    """A size: of the environment variable NAME, else `soak` in make soak, else `ci` (a fifth of a number in a sanitizer build)."""
    given = os.environ.get('HINNY_TEST_' + name)
    if given:
        return type(ci)(given)
    if SOAK:
        return ci if soak is None else soak
    return max(1, ci // 5) if SANITIZED and isinstance(ci, int) else ci


class Load:
    """The load generator of tests/lib/load.c in the background; result() has its counts."""

    def __init__(self, port, path, **options):
        argv = [os.path.join(BUILD, 'tests', 'lib', 'load'), '--port', str(port), '--path', path]
        for key, value in options.items():
            for v in value if isinstance(value, (list, tuple)) else [value]:
                argv += ['--' + key, str(v)]
        self.proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def result(self, timeout=120):
        out, err = self.proc.communicate(timeout=timeout * SLOW)
        if self.proc.returncode == 2:
            raise AssertionError('the load generator failed: %s' % err.decode())
        r = json.loads(out)
        r['said'] = err.decode('utf-8', 'replace')
        return r

    def all_ok(self, timeout=120, allowed=0, retried=None):
        """The counts, after checking that every request got the right answer (`allowed` may have one of a status of --allow)."""
        r = self.result(timeout)
        assert r['ok'] > 0 and r['ok'] + r['allowed'] == r['requests'] and r['refused'] == 0 and r['allowed'] <= allowed, r
        assert retried is None or r['retried'] <= retried, r
        return r


class Backend:
    """A small HTTP back end of the test's own: handler(request_bytes_head, body, connection) -> bytes to send, or None to close."""

    def __init__(self, handler):
        self.handler = handler
        self.requests = []
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(('127.0.0.1', 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        data = b''
        with s:
            while True:
                while b'\r\n\r\n' not in data:
                    part = s.recv(65536)
                    if not part:
                        return
                    data += part
                head, data = data.split(b'\r\n\r\n', 1)
                m = re.search(rb'(?im)^content-length:\s*(\d+)', head)
                if m:
                    while len(data) < int(m.group(1)):
                        data += s.recv(65536)
                    body, data = data[:int(m.group(1))], data[int(m.group(1)):]
                elif re.search(rb'(?im)^transfer-encoding:\s*chunked', head):
                    body = b''
                    while True:
                        while b'\r\n' not in data:
                            data += s.recv(65536)
                        line, data = data.split(b'\r\n', 1)
                        size = int(line, 16)
                        while len(data) < size + 2:
                            data += s.recv(65536)
                        body += data[:size]
                        data = data[size + 2:]
                        if size == 0:
                            break
                else:
                    body = b''
                self.requests.append((head, body))
                answer = self.handler(head, body, s)
                if answer is None:
                    return
                s.sendall(answer)

    def close(self):
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.close()


def ok(body, extra=b''):
    return b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n' % (len(body), extra) + body


class Skip(Exception):
    """A test that cannot run here says why with this."""


def main(tests):
    """Runs test functions by name, TAP-like; for the end of a scenario file: main(globals())."""
    wanted = sys.argv[1:]
    failed = skipped = 0
    names = [n for n in tests if n.startswith('test_') and callable(tests[n]) and (not wanted or n in wanted)]
    for name in names:
        began = time.monotonic()
        try:
            tests[name]()
            print('ok %s (%.1f s)' % (name, time.monotonic() - began), flush=True)
        except Skip as e:
            skipped += 1
            print('skipped %s: %s' % (name, e), flush=True)
        except Exception as e:  # every failure is reported, the others still run
            failed += 1
            import traceback
            traceback.print_exc()
            print('not ok %s: %s' % (name, str(e)[:2000]), flush=True)
    print('%d passed, %d failed, %d skipped' % (len(names) - failed - skipped, failed, skipped))
    sys.exit(1 if failed or not names else 77 if skipped == len(names) else 0)
