#!/usr/bin/env python3
"""Every file of conf/ is valid and runs; scripts/quickstart does what README.md says."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, EXAMPLES, SLOW, SRC, Broker, Skip, env, free_port, hinny, main, until


def folders():
    """(folder, its route files): the files of one folder are made to run together."""
    for folder, _, names in sorted(os.walk(EXAMPLES)):
        routes = sorted(n for n in names if n.endswith('.yaml') and not n.endswith(('.test.yaml', '.kamelet.yaml')))
        if routes:
            yield folder, routes


def contents(folder):
    out = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, 'rb') as f:
                out[os.path.relpath(path, folder)] = f.read()
    return out


def test_check_finds_nothing():
    for folder, routes in folders():
        for name in routes:  # each by itself
            status, out, err = hinny('check', name, cwd=folder)
            assert status == 0 and 'warning' not in err, (name, out, err)
        status, out, err = hinny('check', *routes, cwd=folder)  # and together
        assert status == 0, out + err


def test_all_run():
    n = 0
    for folder, routes in folders():
        with Broker(contents(folder), routes=routes) as b:
            ids = [r['id'] for r in json.loads(b.hinny('routes', '--json', check=True)[1])['routes']]
            assert len(ids) >= len(routes)
            print('%s: %s' % (os.path.relpath(folder, SRC), ', '.join(map(str, ids))))
            n += len(routes)
            assert b.stop() == 0
    assert n >= 4


def test_batches_are_written():
    folder = os.path.join(EXAMPLES, 'batches')
    with Broker(contents(folder), routes=['batches.yaml']) as b:
        def batches(customer):
            out = os.path.join(b.folder, 'batches')
            names = [n for n in sorted(os.listdir(out)) if n.startswith(customer + '-')] if os.path.isdir(out) else []
            return [open(os.path.join(out, n)).read() for n in names]
        orders = ['{"customer":"%s","item":%d}' % ('acme' if i % 2 else 'other', i) for i in range(20)]
        for order in orders:
            assert b.post('/orders', order.encode(), {'Content-Type': 'application/json'})[::2] == (200, b'taken')
        for n, customer in enumerate(('other', 'acme')):
            until(lambda: batches(customer) == ['\n'.join(orders[n::2])], 10)
        b.post('/orders', b'{"customer":"late"}', {'Content-Type': 'application/json'})
        assert b.stop() == 0
        assert batches('late') == ['{"customer":"late"}']


def test_json_answers():
    folder = os.path.join(EXAMPLES, 'json')
    with Broker(contents(folder), routes=['reshape.yaml']) as b:
        status, _, body = b.request('POST', '/reshape', b'{"id":7,"lines":[{"sku":"p1","qty":2,"price":9.5}]}',
                                    {'Content-Type': 'application/json', 'X-Customer': 'Ada'})
        assert (status, json.loads(body)) == (200, {'order': 7, 'customer': 'Ada', 'total': 19}), body


def test_templates_answer():
    folder = os.path.join(EXAMPLES, 'templates')
    assert hinny('check', 'kamelets', cwd=folder)[0] == 0
    with Broker(contents(folder), routes=['greetings.yaml']) as b:
        assert b.get('/hello?name=Ada')[2] == b'Hello, Ada.'
        assert b.get('/salut?name=Ada')[2] == b'Salut, Ada!'
        assert json.loads(b.post('/wrapped', '{"id": 7}')[2]) == {'order': {'id': 7}, 'from': 'example'}


def test_basics_answer():
    folder = os.path.join(EXAMPLES, 'basics')
    with Broker(contents(folder), routes=sorted(n for n in os.listdir(folder) if n.endswith('.yaml'))) as b:
        assert b.get('/hello?name=Ada')[::2] == (200, b'Hello Ada')
        assert b.get('/hello')[2] == b'Hello, whoever you are'
        assert b.post('/rate', '{"total": 12}')[2] == b'small order of 12'
        assert b.post('/rate', '{"total": 120}')[2] == b'large order of 120, to be reviewed'
        status, headers, body = b.post('/safe', '<order customer="Ada"><line>x</line></order>')
        assert (status, headers['x-customer'], body) == (200, 'Ada', b'an order of Ada')
        assert b.post('/safe', '<order customer="Ada"/>')[::2] == (422, b'this is no order')
        status, headers, body = b.post('/safe', 'no xml')
        assert (status, headers['x-customer'], body) == (422, 'unknown', b'this is no order')
        for n in (1, 2, 3):
            b.wait_line('tick %d' % n)


def test_every_example_says_what_it_is():
    for folder, routes in folders():
        for name in routes + [n for n in os.listdir(folder) if n.endswith('.test.yaml')]:
            with open(os.path.join(folder, name)) as f:
                assert f.readline().startswith('# '), name


def test_tests_of_examples():
    n = 0
    for folder, _, names in sorted(os.walk(EXAMPLES)):
        for name in sorted(x for x in names if x.endswith('.test.yaml')):
            with tempfile.TemporaryDirectory() as d:  # nothing is written beside the examples
                shutil.copytree(folder, d, dirs_exist_ok=True)
                status, out, err = hinny('test', name, cwd=d, timeout=120)
            assert status == 0 and not err, out + err
            n += 1
    assert n > 0


def test_hinny_yaml():
    path = os.path.join(SRC, 'conf', 'hinny.yaml')
    with open(path) as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as d:
        shutil.copy(path, d)
        os.mkdir(os.path.join(d, 'routes'))
        status, out, err = hinny('check', '-c', 'hinny.yaml', cwd=d)
        assert status == 0, out + err
        # hinnyd runs with it: only the port and the run folder are the test's own.
        port = free_port()
        route = '- from:\n    uri: platform-http:/r\n    steps:\n      - setBody: {constant: "hello"}\n'
        with Broker({'hinny.yaml': text, 'routes/r.yaml': route}, port=port, settings=['http.listen=127.0.0.1:%d' % port],
                    command=[os.path.join(BUILD, 'hinnyd'), '-c', 'hinny.yaml']) as b:
            assert b.get('/r')[2] == b'hello'
            assert b.stop() == 0


def test_quickstart():
    if shutil.which('curl') is None:
        raise Skip('no curl')
    p = subprocess.run([os.path.join(SRC, 'scripts', 'quickstart'), '--once', '--no-install', '--build', BUILD, '--port', str(free_port())],
                       env=env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120 * SLOW)
    assert p.returncode == 0, p.stdout[-3000:]
    assert len([line for line in p.stdout.splitlines() if line.startswith('ok ')]) == 12, p.stdout[-3000:]


if __name__ == '__main__':
    main(globals())
