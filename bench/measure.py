"""What the benchmarks share: processes and their CPU time and memory, as the kernel counts them; Apache Camel as a peer."""
import glob
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CAMEL = os.path.join(HERE, 'camel')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_port(port, proc, seconds=10):
    until = time.time() + seconds
    while time.time() < until:
        if proc.poll() is not None:
            raise SystemExit('bench: a server ended at start with status %d' % proc.returncode)
        try:
            socket.create_connection(('127.0.0.1', port), 0.2).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit('bench: nothing listens on port %d' % port)


def wait_answer(url, proc, seconds=60):
    """Until a POST is answered with 2xx: some listen before their routes are there."""
    until = time.time() + seconds
    while True:
        try:
            urllib.request.urlopen(urllib.request.Request(url, data=b'{}', headers={'Content-Type': 'application/json'})).close()
            return
        except OSError:
            pass
        if proc.poll() is not None or time.time() > until:
            raise SystemExit('bench: no answer from ' + url)
        time.sleep(0.05)


def descendants(pid):
    out = [pid]
    for task in glob.glob('/proc/%d/task/*/children' % pid):
        try:
            with open(task) as f:
                for child in f.read().split():
                    out += descendants(int(child))
        except OSError:
            pass
    return out


def cpu_ns(pid):
    """Of every thread of the process and its descendants that live."""
    total = 0
    for p in descendants(pid):
        for path in glob.glob('/proc/%d/task/*/schedstat' % p):
            try:
                with open(path) as f:
                    total += int(f.read().split()[0])
            except OSError:
                pass
    return total


def pss_kib(pid):
    total = 0
    for p in descendants(pid):
        try:
            with open('/proc/%d/smaps_rollup' % p) as f:
                total += int(re.search(r'^Pss:\s+(\d+)', f.read(), re.M).group(1))
        except OSError:
            pass
    return total


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def camel_jars():
    """The folder with Camel's jars; Maven brings them the first time."""
    with open(os.path.join(CAMEL, 'pom.xml'), 'rb') as f:
        name = 'camel-' + hashlib.sha256(f.read()).hexdigest()[:12]
    cache = os.environ.get('HINNY_BENCH_DIR') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'hinny')
    jars = os.path.join(cache, name)
    if not os.path.isdir(jars):
        shutil.rmtree(jars + '.new', ignore_errors=True)
        subprocess.check_call(['mvn', '-B', '-q', '-f', os.path.join(CAMEL, 'pom.xml'), 'dependency:copy-dependencies',
                               '-DincludeScope=runtime', '-DoutputDirectory=' + jars + '.new'], stdin=subprocess.DEVNULL)
        os.rename(jars + '.new', jars)
    return jars


class Bench:
    """A folder and processes that go when the benchmark ends."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='hinny-bench-')
        self.procs = []

    def log(self, name):
        with open(os.path.join(self.dir, name + '.log'), errors='replace') as f:
            return f.read()

    def start(self, argv, name=None, **kw):
        with open(os.path.join(self.dir, (name or os.path.basename(argv[0])) + '.log'), 'ab') as log:
            proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **kw)
        self.procs.append(proc)
        return proc

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def hinny(self, build, files, port=None, args=(), name='hinny'):
        build = os.path.abspath(build)
        argv = [os.path.join(build, 'hinny'), 'run', '--no-watch', '--port', str(port or free_port())]
        return self.start(argv + list(args) + list(files), name, env=dict(os.environ, HINNY_LIBEXECDIR=build), cwd=self.dir)

    def camel(self, files, port=None, name='camel', level='warn'):
        settings = ['camel.main.routesIncludePattern=' + ','.join('file:' + f for f in files)]
        if port:
            settings += ['camel.server.enabled=true', 'camel.server.port=%d' % port]
        return self.start(['java', '-Xmx512m', '-Dlog4j2.configurationFile=' + os.path.join(CAMEL, 'log4j2.properties'),
                           '-Dlog4j2.level=' + level] +
                          ['-D' + s for s in settings] + ['-cp', os.path.join(camel_jars(), '*'), 'org.apache.camel.main.Main'],
                          name, cwd=self.dir)

    def stop(self, proc, seconds=20):
        if proc.poll() is None:
            proc.send_signal(signal.SIGTERM)
        try:
            proc.wait(seconds)
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait()
        if proc in self.procs:
            self.procs.remove(proc)

    def close(self):
        for proc in reversed(self.procs):
            if proc.poll() is None:
                proc.send_signal(signal.SIGTERM)
        for proc in list(self.procs):
            self.stop(proc, 10)
        shutil.rmtree(self.dir, ignore_errors=True)


def wrk(bench, url, script, connections, seconds):
    """One round: requests, p50 and p99 in ms. An answer that is not 2xx, or a socket error, ends the benchmark."""
    out = subprocess.run(['wrk', '-t1', '-c%d' % connections, '-d%ds' % seconds, '--latency', '-s', script, url],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    bad = re.search(r'Socket errors:.*|Non-2xx.*', out)
    if bad:
        raise SystemExit('bench: %s: %s\n%s' % (url, bad.group(0), out))
    unit = {'us': 0.001, 'ms': 1, 's': 1000, 'm': 60000}

    def ms(percent):
        value, u = re.search(percent + r'%\s+([\d.]+)(us|ms|s|m)', out).groups()
        return float(value) * unit[u]
    return {'requests': int(re.search(r'(\d+) requests in', out).group(1)), 'p50_ms': ms('50'), 'p99_ms': ms('99')}
