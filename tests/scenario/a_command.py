#!/usr/bin/env python3
"""The command hinny: what each of its commands prints and with which status it ends, in text and JSON."""
import atexit
import grp
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, Broker, alive, env, free_port, hinny, main, until

ROUTES = '''- route:
    id: hello
    from:
      uri: platform-http:/hello
      steps:
        - setBody: {simple: "Hello ${header.name}"}
- route:
    id: direct-hello
    from:
      uri: direct:hello
      steps:
        - setBody: {simple: "Direct ${header.name} ${body}"}
- route:
    id: tick
    from:
      uri: "timer:tick?repeatCount=1&delay=0"
      steps:
        - log: ticked
'''
BAD = '- from:\n    uri: platform-http:/x\n    steps:\n      - setBodi: {constant: x}\n      - to: "log:t?showHeadrs=true"\n'
BAD_XPATH = '- from:\n    uri: platform-http:/x\n    steps:\n      - setBody:\n          xpath: "/order/total = = 1"\n'


def folder(files):
    """A broker's folder without a broker."""
    b = Broker.__new__(Broker)
    b.folder = tempfile.mkdtemp(prefix='ht-')
    atexit.register(shutil.rmtree, b.folder, ignore_errors=True)
    for name, data in files.items():
        b.write(name, data)
    return b.folder


def result(text):
    """The JSON that a command printed: one object."""
    return json.loads(text)


# ---- without a broker

def test_eval():
    status, out, err = hinny('eval', 'simple', 'Hi ${header.name}, ${body}!', '--header', 'name=Ada', '--body', '-', stdin=b'x')
    assert (status, out, err) == (0, 'Hi Ada, x!\n', ''), (status, out, err)
    where = folder({'o.json': '{"lines": [{"n": 1}, {"n": 2}]}'})
    status, out, err = hinny('eval', 'jsonpath', '$.lines[*].n', '--body', os.path.join(where, 'o.json'))
    assert (status, out) == (0, '[1, 2]\n'), (out, err)
    status, out, err = hinny('eval', 'simple', '${null}', '--json')
    assert status == 0 and result(out) == {'value': None, 'type': None}
    for language, text, word in (('simple', '${nosuch}', 'nosuch'), ('jsonpath', '$.x', 'x'), ('jsonpath', '$[', '$['),
                                 ('xpath', '/a', 'line 1'), ('xpath', '/a[', 'Expected ]'), ('xpath', 'nosuch()', 'nosuch'),
                                 ('jq', '.lines | nosuch', 'nosuch/0 is not defined at character 10'), ('jq', '.lines.x', 'Cannot index'),
                                 ('simpel', 'x', 'simpel'), ('simple', '${throwException(no)}', 'no')):
        status, out, err = hinny('eval', language, text, '--body', os.path.join(where, 'o.json'))
        assert status == 1 and out == '' and word in err and '/tmp' not in err, (status, out, err)
    assert hinny('eval', 'simple')[0] == 2


def test_eval_in_the_owner():
    """What another executable evaluates is asked of it; nothing stays behind."""
    where = folder({'o.xml': '<o id="7"><i>a</i><i>b</i></o>', 'o.json': '{"id": 7, "tags": ["a", "b"]}', 'big.json': '{"x": "%s"}' % ('a' * 3000000)})
    tmp = os.path.join(where, 'tmp')
    os.mkdir(tmp)
    os.environ['TMPDIR'] = tmp
    try:
        for language, text, body, more, want in (
                ('xpath', '/o/i[$n]', 'o.xml', ['n=2'], '<i>a</i><i>b</i>'), ('xpath', '/o/@id', 'o.xml', [], '7'),
                ('jq', '.tags', 'o.json', [], '[ "a", "b" ]'), ('jq', '.x | length', 'big.json', [], '3000000'),
                ('jq', 'header("A")', 'o.json', ['a=5'], '5'), ('jq', '.nope', 'o.json', [], 'null'),
                ('simple', 'x=${jq(.id)} ${xpath(header:x,/a/text())}', 'o.json', ['x=<a>1</a>'], 'x=7 1')):
            args = [a for h in more for a in ('--header', h)]
            status, out, err = hinny('eval', language, text, '--body', os.path.join(where, body), *args)
            assert (status, out, err) == (0, want + '\n', ''), (text, status, out, err)
        status, out, err = hinny('eval', 'xtokenize', '//i', '--body', os.path.join(where, 'o.xml'), '--json')
        assert result(out) == {'value': '[<i>a</i>, <i>b</i>]', 'type': 'java.util.ArrayList'}, out
        assert os.listdir(tmp) == [], os.listdir(tmp)
    finally:
        del os.environ['TMPDIR']


def test_version_and_help():
    status, out, err = hinny('version')
    assert status == 0 and out.startswith('hinny ') and not err
    status, out, err = hinny('version', '--json')
    assert status == 0 and 'version' in result(out)
    status, out, err = hinny('--help')
    assert status == 0 and 'reload' in out and 'check' in out
    status, out, err = hinny('nonsense')
    assert status == 2 and 'nonsense' in err
    status, out, err = hinny('relod')
    assert status == 2 and 'reload' in err, err
    status, out, err = hinny()
    assert status == 2, (status, out, err)


def test_check():
    d = folder({'good.yaml': ROUTES, 'bad.yaml': BAD, 'xpath.yaml': BAD_XPATH, 'sub/one.yaml': ROUTES.replace('hello', 'hallo').replace('tick', 'tack'), 'sub/two.yaml': BAD})
    status, out, err = hinny('check', 'good.yaml', cwd=d)
    assert status == 0, out + err
    status, out, err = hinny('check', 'good.yaml', 'bad.yaml', cwd=d)
    said = out + err
    assert status == 1, said
    assert 'bad.yaml:4:' in said and 'setBodi' in said and 'did you mean "setBody"' in said, said  # all errors in one go
    assert 'bad.yaml:5:' in said and 'showHeadrs' in said and 'did you mean "showHeaders"' in said, said
    status, out, err = hinny('check', 'xpath.yaml', cwd=d)
    assert status == 1 and 'xpath.yaml:5:' in out + err, out + err
    status, out, err = hinny('check', 'sub', cwd=d)
    assert status == 1 and 'two.yaml:4:' in out + err, out + err
    status, out, err = hinny('check', 'absent.yaml', cwd=d)
    assert status != 0 and 'absent.yaml' in out + err
    status, out, err = hinny('check', '--json', 'good.yaml', 'bad.yaml', cwd=d)
    assert status == 1 and 'setBodi' in json.dumps(result(out)), out


def test_no_broker():
    for command in ('status', 'routes', 'reload', 'stop', 'drain'):
        status, out, err = hinny(command, '--dir', '/nonexistent')
        assert status not in (0, 2) and '/nonexistent' in err, (command, status, out, err)


# ---- with one

def test_status_and_routes():
    with Broker({'r.yaml': ROUTES}) as b:
        for _ in range(3):
            assert b.get('/hello', {'name': 'you'})[2] == b'Hello you'
        until(lambda: b.status()['generations'][0]['completed'] >= 4, 10)
        s = b.status()
        assert s['generation'] == 1 and s['phase'] == 'serving' and s['pid'] == b.proc.pid
        assert s['kinds']['http']['serving'] == s['kinds']['http']['instances'] and s['kinds']['flow']['serving'] == 1
        assert any(str(b.port) in a for a in s['listen'])
        text = b.hinny('status', check=True)[1]
        assert 'serving' in text and 'http' in text and str(b.port) in text, text
        r = {x['id']: x for x in result(b.hinny('routes', '--json', check=True)[1])['routes']}
        assert (r['hello']['completed'], r['hello']['failed'], r['hello']['home']) == (3, 0, 'http'), r
        assert r['tick']['completed'] == 1 and r['hello']['line'] in (1, 2), r
        text = b.hinny('routes', check=True)[1]
        assert 'hello' in text and 'platform-http:' in text and 'direct-hello' in text


def test_socket_option_and_its_mode():
    with Broker({'r.yaml': ROUTES}) as b:
        path = os.path.join(b.rundir, 'admin.sock')
        assert hinny('status', '--socket', path)[0] == 0
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
        assert stat.S_IMODE(os.stat(b.rundir).st_mode) & 0o022 == 0


def test_run_folder_is_locked():
    with Broker({'r.yaml': ROUTES}) as b:
        status, out, err = hinny('run', '--no-watch', '--port', str(free_port()), '--dir', b.rundir, 'r.yaml', cwd=b.folder)
        assert status == 1 and b.rundir in out + err, out + err
        assert b.get('/hello', {'name': 'x'})[0] == 200


def test_port_in_use():
    with Broker({'r.yaml': ROUTES}) as b:
        status, out, err = hinny('run', '--no-watch', '--port', str(b.port), 'r.yaml', cwd=b.folder)
        assert status == 1 and str(b.port) in out + err and 'in use' in out + err, out + err


def test_run_refuses_a_bad_file():
    d = folder({'bad.yaml': BAD})
    status, out, err = hinny('run', '--no-watch', '--port', str(free_port()), 'bad.yaml', cwd=d)
    assert status == 1 and 'bad.yaml:4:' in err and 'bad.yaml:5:' in err, err


def test_log_level():
    with Broker({'r.yaml': ROUTES}) as b:
        assert b.hinny('log-level', 'debug')[0] == 0
        assert b.hinny('log-level', 'loud')[0] != 0
        out = b.hinny('log-level', 'warning', '--json', check=True)[1]
        assert 'warning' in out
        at = len(b.lines)
        b.hinny('reload', '--wait', check=True)
        time.sleep(0.1)
        assert not [x for x in b.lines[at:] if 'level=info' in x], b.lines[at:]


def test_send():
    with Broker({'r.yaml': ROUTES}) as b:
        b.write('body.txt', 'from a file')
        status, out, err = b.hinny('send', 'direct:hello', '--header', 'name=A', os.path.join(b.folder, 'body.txt'))
        assert (status, out.rstrip('\n')) == (0, 'Direct A from a file'), (status, out, err)
        status, out, err = b.hinny('send', 'direct:hello', '--header', 'name=B', '-', stdin=b'from stdin')
        assert (status, out.rstrip('\n')) == (0, 'Direct B from stdin'), (status, out, err)
        big = b'x' * 1000000
        status, out, err = b.hinny('send', 'direct:hello', '--header', 'name=B', '-', stdin=big)
        assert status == 0 and len(out.rstrip('\n')) == len('Direct B ') + len(big), (status, len(out), err)
        status, out, err = b.hinny('send', 'direct:absent', '-', stdin=b'')
        assert status != 0 and 'absent' in out + err, (status, out, err)
        status, out, err = b.hinny('send', 'nothing:x', '-', stdin=b'')
        assert status != 0 and 'nothing' in out + err, (status, out, err)


def test_drain_and_back():
    with Broker({'r.yaml': ROUTES}) as b:
        assert b.hinny('drain')[0] == 0
        until(lambda: b.status()['phase'] == 'drained' and b.status()['generations'][0]['state'] == 'drained', 15)
        try:
            b.get('/hello')
            raise AssertionError('a drained broker takes requests')
        except OSError:
            pass
        b.hinny('reload', '--wait', check=True)
        assert b.get('/hello', {'name': 'x'})[2] == b'Hello x'
        assert b.status()['phase'] == 'serving'


def test_stop():
    with Broker({'r.yaml': ROUTES}) as b:
        workers = b.workers()
        assert b.hinny('stop')[0] == 0
        assert b.proc.wait(15 * SLOW) == 0
        assert not [p for p in workers if alive(p)]


def test_sigterm_and_sigint_end_everything():
    for sig in (signal.SIGTERM, signal.SIGINT):
        with Broker({'r.yaml': ROUTES}) as b:
            workers = b.workers()
            assert len(workers) >= 2
            b.signal(sig)
            assert b.proc.wait(15 * SLOW) == 0
            assert not [p for p in workers if alive(p)]


def test_workers_ignore_terminal_signals():
    with Broker({'r.yaml': ROUTES}) as b:
        for pid in b.workers():
            for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(pid, sig)
        for _ in range(10):
            assert b.get('/hello', {'name': 'x'})[0] == 200
        assert all(k['deaths'] == 0 for k in b.status()['kinds'].values())


def test_settings_and_properties():
    routes = '- from:\n    uri: platform-http:/p\n    steps:\n      - setBody: {constant: "{{greeting}} {{who:nobody}}"}\n'
    with Broker({'r.yaml': routes, 'application.properties': 'greeting = hi\n'}, settings=['workers.http.instances=1'], properties=['who=me']) as b:
        assert b.get('/p')[2] == b'hi me'
        assert len(b.workers('http')) == 1
    status, out, err = hinny('run', '--set', 'workers.http.instanses=1', 'r.yaml')
    assert status != 0 and 'instanses' in err and 'instances' in err, err


def test_run_folder_of_the_command_line():
    """--set run_dir= is obeyed as --dir is."""
    with tempfile.TemporaryDirectory(prefix='ht-') as d:
        run = os.path.join(d, 'run')
        with open(os.path.join(d, 'r.yaml'), 'w') as f:
            f.write(ROUTES)
        p = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'run', '--no-watch', '--port', str(free_port()), '--set', 'run_dir=' + run, 'r.yaml'],
                             cwd=d, env=env(), stderr=subprocess.PIPE, text=True)
        try:
            for line in p.stderr:
                if 'ready in' in line:
                    break
            assert hinny('status', '--dir', run)[0] == 0, line
        finally:
            p.terminate()
            p.communicate(timeout=15 * SLOW)


def test_group_of_a_worker():
    """workers.KIND.group does not need workers.KIND.user."""
    if os.geteuid() != 0:
        return
    with Broker({'r.yaml': ROUTES}, settings=['workers.http.group=daemon']) as b:
        with open('/proc/%d/status' % b.workers('http')[0]) as f:
            gids = re.search(r'^Gid:\s(.*)$', f.read(), re.M).group(1).split()
        assert gids == [str(grp.getgrnam('daemon').gr_gid)] * 4, gids


def test_plain_log():
    """log.format plain prints the messages of log steps and nothing else."""
    routes = '- from:\n    uri: platform-http:/l\n    steps:\n      - log: {message: "plainly ${body}", loggingLevel: ERROR}\n'
    with Broker({'r.yaml': routes}, settings=['log.format=plain']) as b:
        b.post('/l', b'said')
        b.wait_line('^plainly said$')


def test_fresh_run_folder_goes():
    """Without --dir the run folder is a fresh one of mode 0700, which is removed at the end."""
    with Broker({'r.yaml': ROUTES}, wait=False) as b:
        b.wait_line('^hinny: ready in')
        d = b.folder
        p = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'run', '--no-watch', '--port', str(free_port()), 'r.yaml'], cwd=d, env=env(),
                             stderr=subprocess.PIPE, text=True)
        for line in p.stderr:
            if 'ready in' in line:
                break
        run = line.rsplit('run folder ', 1)[1].strip()
        assert stat.S_IMODE(os.stat(run).st_mode) == 0o700
        assert hinny('status', '--dir', run)[0] == 0
        p.terminate()
        p.communicate(timeout=15 * SLOW)
        assert p.returncode == 0 and not os.path.exists(run)


if __name__ == '__main__':
    main(globals())
