#!/usr/bin/env python3
"""The admin socket's protocol: requests, mistakes, who may connect. The workers are fakes."""
import json
import os
import socket
import subprocess
import sys
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SANITIZED, SLOW, SRC, Skip, hinny, main
from fake import Fake, until


class Admin:
    def __init__(self, b):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(10 * SLOW)
        self.s.connect(os.path.join(b.rundir, 'admin.sock'))
        self.data = b''

    def send(self, text):
        self.s.sendall(text if isinstance(text, bytes) else text.encode())

    def line(self):
        while b'\n' not in self.data:
            part = self.s.recv(65536)
            if not part:
                return None
            self.data += part
        line, self.data = self.data.split(b'\n', 1)
        return json.loads(line)

    def ask(self, **request):
        self.send(json.dumps(request) + '\n')
        return self.line()

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.s.close()


def test_mistakes():
    with Fake() as b, Admin(b) as a:
        assert a.ask(command='version')['ok'] is True
        for text, said in (('nonsense\n', 'no JSON'), ('[1]\n', 'expected an object'), ('{}\n', 'expected an object'), ('"x"\n', 'no JSON'),
                           ('{"command":7}\n', 'expected an object'), ('{"command":"stat"}\n', 'unknown command "stat"'),
                           ('{"command":"statsu"}\n', 'did you mean "status"'), ('{"command":"status","x":1}\n', 'unknown argument "x"'),
                           ('{"command":"status","command":"stop"}\n', 'no JSON'), ('{"command":"reload","wait":1}\n', 'expected true or false'),
                           ('{"command":"log-level"}\n', 'expected error, warning'), ('{"command":"log-level","level":"loud"}\n', 'expected error, warning'),
                           ('{"command":"send"}\n', 'expected a uri'), ('{"command":"send","endpoint":"x:y","headers":[]}\n', 'object of strings'),
                           ('{"command":"send","endpoint":"x:y","headers":{"a":1}}\n', 'object of strings'), ('\xff{"command":"status"}\n', 'no JSON'),
                           ('{"command":"st\\u0000atus"}\n', 'no JSON')):
            a.send(text)
            answer = a.line()
            assert answer['ok'] is False and said in answer['error'], (text, answer)
        assert a.ask(command='version')['ok'] is True


def test_requests_in_pieces_and_in_a_row():
    with Fake() as b, Admin(b) as a:
        for c in '{"command":"version"}\n':
            a.send(c)
        assert a.line()['ok'] is True
        a.send('{"command":"version"}\n\n \n{"command":"reload","wait":true}\n{"command":"status"}\n{"command":"version"}\n')
        assert 'version' in a.line()['result']
        assert a.line()['result']['generation'] == 2
        assert a.line()['result']['generation'] == 2  # the status came when the reload was done
        assert 'version' in a.line()['result']


def test_a_client_that_only_listens_on():
    with Fake() as b, Admin(b) as a:
        a.send('{"command":"version"}\n{"command":"reload","wait":true}\n{"command":"version"}\n{"command":')
        a.s.shutdown(socket.SHUT_WR)
        assert [a.line()['ok'] for _ in range(3)] == [True] * 3
        assert a.line() is None


def test_too_long_a_request():
    with Fake() as b:
        with Admin(b) as a:
            try:
                a.send(b'x' * (2 << 20))
                answer = a.line()
                assert answer is None or answer['ok'] is False
            except OSError:
                pass
        assert b.status()['phase'] == 'serving'


def test_a_client_that_goes_while_it_waits():
    with Fake() as b:
        b.play('http.0', 'silent')
        with Admin(b) as a:
            a.send('{"command":"reload","wait":true}\n')
            until(lambda: b.said('BEGIN', 'http.0', 2))
        with Admin(b) as a:
            a.send('{"command":"status"}\n{"command":"rel')
        b.play_nothing('http.0')
        os.kill(b.worker('http.0', 2)['pid'], 9)
        until(lambda: b.status()['generation'] == 2)


def test_many_connections():
    with Fake() as b:
        idle = [Admin(b) for _ in range(64)]
        with Admin(b) as a:
            assert a.line() == {'ok': False, 'error': 'too many connections'}
        assert idle[0].ask(command='version')['ok'] is True
        for a in idle:
            a.s.close()
        until(lambda: hinny('version', '--dir', b.rundir)[0] == 0)


def test_a_client_that_does_not_read():
    with Fake() as b, Admin(b) as a:
        request = b'{"command":"status"}\n' * 20000
        a.s.setblocking(False)
        sent = 0
        try:
            while sent < len(request):
                sent += a.s.send(request[sent:])
        except BlockingIOError:
            pass
        t = time.monotonic()
        assert b.status()['phase'] == 'serving'  # others are served meanwhile
        assert time.monotonic() - t < 5 * SLOW
        if not SANITIZED:
            with open('/proc/%d/statm' % b.proc.pid) as f:
                assert int(f.read().split()[1]) * 4096 < 16 << 20


def as_nobody(b, path):
    """hinny's connection as another user: its answer."""
    code = ('import os,socket\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\ns=socket.socket(socket.AF_UNIX)\ns.connect(%r)\n'
            'print(s.recv(1000).decode())' % path)
    p = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return p.stdout + p.stderr


def test_peer_credentials():
    if os.geteuid() != 0:
        raise Skip('needs root')
    with Fake(settings=['admin.mode=0666']) as b:
        path = os.path.join(b.rundir, 'admin.sock')
        os.chmod(b.folder, 0o755)
        assert os.stat(path).st_mode & 0o777 == 0o666
        assert 'not allowed' in as_nobody(b, path), as_nobody(b, path)
    with Fake() as b:
        os.chmod(b.folder, 0o755)
        assert 'Permission denied' in as_nobody(b, os.path.join(b.rundir, 'admin.sock'))


def test_bad_settings():
    for setting, said in (('admin.mode=0999', 'octal'), ('admin.group=no-such-group', 'no-such-group'), ('admin.socket=/' + 'x' * 200, 'bytes')):
        with Fake(settings=[setting], wait=False) as b:
            assert b.proc.wait(10 * SLOW) == 1
            b.reader.join(5)
            assert said in b.log(), b.log()


def test_long_run_folder():
    with Fake(wait=False, args=['--dir', '/tmp/' + 'x' * 90]) as b:
        assert b.proc.wait(10 * SLOW) == 1
        b.reader.join(5)
        assert 'sockets lie in it' in b.log(), b.log()
    os.rmdir('/tmp/' + 'x' * 90)


def test_log_level_holds_for_successors():
    with Fake() as b:
        b.hinny('log-level', 'debug', check=True)
        until(lambda: len(b.said('LOG_LEVEL')) == 2)
        os.kill(b.worker('http.0')['pid'], 9)
        until(lambda: len(b.said('LOG_LEVEL', 'http.0')) == 2)
        b.hinny('reload', '--wait', check=True)
        b.wait_line('level=debug who=hinnyd msg="generation 1 has gone"')


def test_finds_the_only_broker():
    """Without --dir: the one in $HINNY_DIR, or the only hinny run of this user."""
    with Fake() as b:
        e = dict(os.environ, HINNY_DIR=b.rundir)
        p = subprocess.run([os.path.join(BUILD, 'hinny'), 'status', '--json'], env=e, stdout=subprocess.PIPE, text=True)
        assert p.returncode == 0 and json.loads(p.stdout)['run_dir'] == b.rundir
        e = dict(os.environ, HINNY_DIR='/nonexistent')
        p = subprocess.run([os.path.join(BUILD, 'hinny'), 'status'], env=e, stderr=subprocess.PIPE, text=True)
        assert p.returncode == 1 and '/nonexistent/admin.sock' in p.stderr


def test_the_list_of_commands_is_documented():
    with open(os.path.join(SRC, 'docs', 'admin.md')) as f:
        text = f.read()
    with open(os.path.join(SRC, 'supervisor', 'admin_commands.def')) as f:
        names = [line.split('"')[1] for line in f if line.startswith('ADMIN_COMMAND(')]
    assert names == sorted(names) and len(names) > 5
    for name in names:
        assert '`%s`' % name in text, name


if __name__ == '__main__':
    main(globals())
