#!/usr/bin/env python3
"""hinny check and its owners: refused, not installed, dead, silent. Options and their mistakes. The workers are fakes."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, check, free_port, hinny, main
from fake import ROUTE, XML, Fake, until


class Tools:
    """Fake workers and a route file, without a broker."""

    def __init__(self, routes=XML):
        self.f = Fake.__new__(Fake)
        self.f.prepare({})
        self.folder = tempfile.mkdtemp(prefix='ht-')
        with open(os.path.join(self.folder, 'r.yaml'), 'w') as f:
            f.write(routes)

    def check(self, *args):
        e = dict(os.environ, HINNY_LIBEXECDIR=self.f.libexec, HINNY_FAKE=self.f.fake, XDG_RUNTIME_DIR=self.folder)
        p = subprocess.run([os.path.join(BUILD, 'hinny'), 'check'] + list(args or ['r.yaml']), cwd=self.folder, env=e, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60 * SLOW)
        return p.returncode, p.stdout, p.stderr

    def __enter__(self):
        return self

    def __exit__(self, *a):
        shutil.rmtree(self.folder)
        shutil.rmtree(self.f.base)


def test_good():
    with Tools() as t:
        assert t.check() == (0, 'ok: 1 route\n', '')
        assert {w for w, g, p in t.f.said('CHECK')} == {'http.0', 'xform.0'}
        status, out, err = t.check('--json', 'r.yaml')
        assert status == 0 and json.loads(out) == {'ok': True, 'routes': 1, 'problems': [], 'notes': []}
        assert os.listdir(t.folder) == ['r.yaml']  # no run folder is left


def test_refused_by_an_owner():
    with Tools() as t:
        t.f.play('xform', 'refuse r.yaml:6:19: xpath: unbalanced')
        status, out, err = t.check()
        assert status == 1 and err == 'r.yaml:6:19: xpath: unbalanced\n' and out == '', (status, out, err)
        status, out, err = t.check('--json', 'r.yaml')
        problem = json.loads(out)['problems'][0]
        assert status == 1 and problem == {'file': 'r.yaml', 'line': 6, 'column': 19, 'text': 'xpath: unbalanced', 'warning': False}, problem



def test_owner_not_installed():
    with Tools() as t:
        os.unlink(os.path.join(t.f.libexec, 'hinny-xform'))
        status, out, err = t.check()
        assert status == 0 and 'note: hinny-xform is not installed' in err and out.startswith('ok'), (status, out, err)


def test_owner_dies():
    with Tools() as t:
        t.f.play('xform', 'crash')
        status, out, err = t.check()
        assert status == 1 and 'hinny-xform ended without an answer' in err


def test_owner_is_silent():
    with Tools() as t:
        t.f.play('xform', 'silent')
        began = time.monotonic()
        status, out, err = t.check('--set', 'supervisor.start_timeout=300ms', 'r.yaml')
        assert status == 1 and 'hinny-xform does not answer' in err
        assert time.monotonic() - began < 10 * SLOW


def test_bad_file_asks_nobody():
    with Tools(ROUTE.replace('setBody', 'setBodi')) as t:
        status, out, err = t.check()
        assert status == 1 and err.startswith('r.yaml:6:') and not t.f.said('CHECK')
        status, out, err = t.check('--json', 'r.yaml')
        problem = json.loads(out)['problems'][0]
        assert (problem['file'], problem['line']) == ('r.yaml', 6) and 'setBodi' in problem['text'] and err == '', (problem, err)


def test_what_counts_as_done_is_noted():
    routes = """
- from:
    uri: direct:a
    steps:
      - wireTap: {uri: "direct:b"}
      - split: {simple: "${body}", steps: [{to: "seda:x"}]}
      - aggregate:
          correlationExpression: {constant: a}
          completionSize: 2
          aggregationStrategy: "#class:org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy"
          steps: [{log: a}]
- from: {uri: "seda:x", steps: [{resequence: {simple: "${body}", steps: [{log: a}]}}]}
- from: {uri: "direct:b", steps: [{log: a}, {to: "log:a"}]}
"""
    status, out, err = check({'r.yaml': routes})
    noted = [line.split(' what it')[0] for line in err.splitlines()]
    assert status == 0 and noted == ['r.yaml:5:9: note: wireTap:', 'r.yaml:6:45: note: seda:', 'r.yaml:7:9: note: aggregate:',
                                     'r.yaml:12:34: note: resequence:'], err


def test_options():
    for args, status, said in ((['status', '--jsn'], 2, 'did you mean "--json"'), (['status', '--port', '1'], 2, 'unknown option "--port"'),
                               (['run', '--port'], 2, 'needs a value'), (['run', '--port', '70000', 'x'], 2, '1 to 65535'),
                               (['run', '--port=x', 'x'], 2, '1 to 65535'), (['run', '--no-watch=1', 'x'], 2, 'takes no value'), (['run'], 2, 'route files'),
                               (['status', 'x'], 2, 'unexpected argument "x"'), (['log-level'], 2, 'expected error|warning'), (['check'], 2, 'route files'),
                               (['-x'], 2, 'unknown command'), (['send', 'direct:x', '--header', 'novalue'], 1, 'NAME=VALUE'), (['status', '-q'], 2, '-q')):
        s, out, err = hinny(*args, stdin=b'')
        assert s == status and said in err, (args, s, out, err)
    for command in ('run', 'check', 'status', 'routes', 'workers', 'reload', 'drain', 'stop', 'log-level', 'send', 'doc', 'version', 'help'):
        s, out, err = hinny(command, '--help')
        assert s == 0 and out.startswith('usage: hinny %s' % command) and not err, (command, out, err)
        assert hinny('help', command)[1] == out
    assert hinny('help', 'nonsense')[0] == 2
    assert hinny('--version')[1] == hinny('version')[1] == hinny('-V')[1]


def test_doc():
    s, out, err = hinny('doc', 'timer')
    assert s == 0 and 'repeatCount' in out
    s, out, err = hinny('doc', 'http.listen')
    assert s == 0 and 'listen' in out
    s, out, err = hinny('doc', 'tiemr')
    assert s == 1 and 'did you mean "timer"' in err and not out, (out, err)
    for name, word in (('hash', '${hash('), ('${uppercase}', 'capital letters'), ('split.group', 'step split'), ('completionSize', 'step aggregate'),
                       ('groovy', 'nearest is simple'), ('jq', 'hinny-jq'), ('StringAggregationStrategy', 'class '), ('language', 'language:languageName'),
                       ('bean', 'not available'), ('resultQName', 'language xpath'), ('csv', 'data format')):
        s, out, err = hinny('doc', name)
        assert s == 0 and word in out, (name, out, err)
    assert 'timer' in hinny('doc')[1]


def test_users_of_workers():
    """A user that is not there, and one that only root could become, are said by the key that names them."""
    with Tools(ROUTE) as t:
        e = dict(os.environ, HINNY_LIBEXECDIR=t.f.libexec, HINNY_FAKE=t.f.fake)

        def said(user, *before):
            argv = list(before) + [os.path.join(BUILD, 'hinny'), 'run', '--no-watch', '--port', str(free_port()), '--set', 'workers.http.user=' + user, 'r.yaml']
            p = subprocess.run(argv, cwd=t.folder, env=e, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30 * SLOW)
            return p.returncode, p.stdout
        assert said('no-such-user') == (1, 'workers.http: no user "no-such-user"\n')
        if os.geteuid() == 0 and shutil.which('setpriv'):
            os.chmod(t.folder, 0o755)
            os.chmod(t.f.base, 0o755)
            s, out = said('daemon', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups')
            assert s == 1 and ('only root can give workers a user' in out or 'ermission denied' in out), out


def test_abandoned_run_folders_go():
    base = os.environ.get('XDG_RUNTIME_DIR', '/tmp')
    old, young = (os.path.join(base, 'hinny-%c%05d' % (c, os.getpid() % 100000)) for c in 'oy')
    for d in (old, young):
        os.makedirs(os.path.join(d, 'gen.1'), exist_ok=True)
        with open(os.path.join(d, 'lock'), 'w') as f:
            f.write('1 2\n')
    os.utime(os.path.join(old, 'lock'), (1, 1))
    e = dict(os.environ)
    try:
        with Fake() as b:  # with a folder of its own it looks after that one only
            assert os.path.exists(old)
            e.update(HINNY_LIBEXECDIR=b.libexec, HINNY_FAKE=b.fake)
            p = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'run', '--no-watch', 'r.yaml', '--port', str(free_port())], cwd=b.folder, env=e)
            until(lambda: not os.path.exists(old))
            assert os.path.exists(young)
            p.terminate()
            assert p.wait(10 * SLOW) == 0
    finally:
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(young, ignore_errors=True)


if __name__ == '__main__':
    main(globals())
