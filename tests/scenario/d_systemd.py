#!/usr/bin/env python3
"""hinnyd as a service: what it tells the service manager, sockets that were passed to it, the unit file."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, SRC, Broker, Skip, alive, free_port, main, until

ANSWER = '- route:\n    id: r\n    from:\n      uri: platform-http:/r\n      steps:\n        - setBody: {constant: "%s"}\n'
HINNYD = [os.path.join(BUILD, 'hinnyd'), '-c', 'hinny.yaml']


def config(listen):
    return 'routes: [r.yaml]\nhttp:\n  listen: ["%s"]\n' % listen


class Manager:
    """The service manager's side of NOTIFY_SOCKET."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='hn-')
        self.path = os.path.join(self.folder, 'notify')
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def next(self, seconds=20, skip_status=True):
        """The next message as a dict; those that have nothing but a STATUS are skipped."""
        self.socket.settimeout(seconds * SLOW)
        while True:
            m = dict(line.split('=', 1) for line in self.socket.recv(4096).decode().splitlines())
            if not skip_status or set(m) - {'STATUS'}:
                return m

    def silent(self):
        self.socket.settimeout(0.05)
        try:
            return self.socket.recv(4096) is None
        except TimeoutError:
            return True

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.socket.close()
        shutil.rmtree(self.folder)


def test_notify():
    port = free_port()
    with Manager() as manager:
        with Broker({'r.yaml': ANSWER % 'one', 'hinny.yaml': config('127.0.0.1:%d' % port)}, port=port, command=HINNYD,
                    extra_env={'NOTIFY_SOCKET': manager.path}, wait=False) as b:
            m = manager.next()
            assert m['READY'] == '1' and 'generation 1' in m['STATUS'], m
            assert b.get('/r')[2] == b'one'  # READY: the routes serve

            b.write('r.yaml', ANSWER % 'two')
            b.signal(signal.SIGHUP)
            m = manager.next()
            assert m['RELOADING'] == '1' and int(m['MONOTONIC_USEC']) > 0, m
            m = manager.next()
            assert m['READY'] == '1' and 'generation 2' in m['STATUS'], m
            assert b.get('/r')[2] == b'two'

            b.write('r.yaml', ANSWER.replace('setBody', 'setBodi') % 'three')  # refused: it serves as before
            b.signal(signal.SIGHUP)
            assert manager.next()['RELOADING'] == '1'
            m = manager.next()
            assert m['READY'] == '1' and 'refused' in m['STATUS'], m
            assert b.get('/r')[2] == b'two'

            b.signal(signal.SIGTERM)
            assert manager.next()['STOPPING'] == '1'
            assert b.proc.wait(15 * SLOW) == 0


def test_not_ready_when_refused():
    port = free_port()
    with Manager() as manager:
        with Broker({'r.yaml': ANSWER.replace('setBody', 'setBodi') % 'x', 'hinny.yaml': config('127.0.0.1:%d' % port)}, port=port, command=HINNYD,
                    extra_env={'NOTIFY_SOCKET': manager.path}, wait=False) as b:
            assert b.proc.wait(15 * SLOW) == 1
            b.reader.join(5)
            assert 'r.yaml:6:' in b.log() and 'setBodi' in b.log(), b.log()
            assert manager.silent()


def test_watchdog():
    port = free_port()
    with Manager() as manager:
        with Broker({'r.yaml': ANSWER % 'x', 'hinny.yaml': config('127.0.0.1:%d' % port)}, port=port, command=HINNYD,
                    extra_env={'NOTIFY_SOCKET': manager.path, 'WATCHDOG_USEC': '200000'}, wait=False):
            assert manager.next()['READY'] == '1'
            for _ in range(3):
                assert manager.next(5) == {'WATCHDOG': '1'}


def test_workers_do_not_inherit_the_notify_socket():
    port = free_port()
    with Manager() as manager:
        with Broker({'r.yaml': ANSWER % 'x', 'hinny.yaml': config('127.0.0.1:%d' % port)}, port=port, command=HINNYD,
                    extra_env={'NOTIFY_SOCKET': manager.path}, wait=False) as b:
            assert manager.next()['READY'] == '1'
            for pid in b.workers():
                with open('/proc/%d/environ' % pid, 'rb') as f:
                    assert b'NOTIFY_SOCKET=' not in f.read()


def socket_activated(listen_arg, listen, extra=()):
    if shutil.which('systemd-socket-activate') is None:
        raise Skip('no systemd-socket-activate')
    port = free_port()
    return Broker({'r.yaml': ANSWER % 'one', 'hinny.yaml': config(listen)}, port=port, wait=False,
                  command=['systemd-socket-activate', '--fdname=web', '-l', listen_arg.replace('PORT', str(port))]
                  + ['--setenv=%s=%s' % (k, v) for k, v in os.environ.items() if k.startswith(('HINNY_', 'ASAN_', 'UBSAN_'))]
                  + ['--setenv=HINNY_LIBEXECDIR=' + os.environ.get('HINNY_LIBEXECDIR', BUILD), '--'] + HINNYD)


def test_socket_activation():
    """The first connection starts hinnyd, which serves it; a reload and a killed worker lose none."""
    with socket_activated('127.0.0.1:PORT', 'fd:web') as b:
        b.wait_line('Listening on')
        assert b.get('/r', timeout=20)[2] == b'one'
        assert len(b.workers('http')) >= 1
        b.write('r.yaml', ANSWER % 'two')
        assert b.hinny('reload', '--wait')[0] == 0
        for _ in range(20):
            assert b.get('/r')[2] == b'two'
        victim = b.worker('http.0', 2)['pid']
        os.kill(victim, signal.SIGKILL)
        for _ in range(20):
            assert b.get('/r')[2] == b'two'
        until(lambda: not alive(victim), 5)
        assert b.stop() == 0


def test_socket_activation_unknown_name():
    with socket_activated('127.0.0.1:PORT', 'fd:nothing') as b:
        b.wait_line('Listening on')
        try:
            b.connect().close()
        except OSError:
            pass
        assert b.proc.wait(15 * SLOW) == 1
        b.reader.join(5)
        assert 'fd:nothing' in b.log()


# ---- the unit

def unit():
    """The unit as `make install` has it, with the programs of this build so that systemd finds them."""
    made = os.path.join(BUILD, 'conf', 'hinny.service')
    subprocess.run(['make', '-s', '-C', BUILD, 'conf/hinny.service'], check=True)
    with open(made) as f:
        return f.read()


def analyze(*args):
    if shutil.which('systemd-analyze') is None:
        raise Skip('no systemd-analyze')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'hinny.service')
        with open(path, 'w') as f:
            f.write(re.sub(r'(?m)^(Exec\w+=)([-+!@]*)/\S*/(hinnyd?)\b', lambda m: m.group(1) + m.group(2) + os.path.join(BUILD, m.group(3)), unit()))
        p = subprocess.run(['systemd-analyze'] + list(args) + [path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return p.returncode, p.stdout


def test_unit_verifies():
    status, out = analyze('verify', '--man=no')
    complaints = [line for line in out.splitlines() if 'hinny' in line]
    assert not complaints, out
    assert status == 0, out


def test_unit_is_hardened():
    status, out = analyze('security', '--offline=true', '--threshold=40')
    print(out.strip().splitlines()[-1])
    assert status == 0, out


def test_unit_is_notify_and_reloads_with_an_answer():
    text = unit()
    assert re.search(r'(?m)^Type=notify', text)
    assert re.search(r'(?m)^ExecReload=.*hinny .*reload.* --wait', text), text


if __name__ == '__main__':
    main(globals())
