#!/usr/bin/env python3
"""hinny test: tests of routes by the real broker, what they find, and what it says of files that are wrong."""
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, SLOW, alive, children, env, hinny, main, until

ROUTES = '''- onException:
    exception: [java.io.IOException]
    handled: {constant: "true"}
    steps:
      - setBody: {simple: "caught ${exception.message} of ${exchangeProperty.CamelFailureEndpoint}"}
- interceptSendToEndpoint:
    uri: "http://seen/*"
    steps:
      - setHeader: {name: seen, simple: "${exchangeProperty.CamelInterceptedEndpoint}"}
- route:
    id: web
    from:
      uri: platform-http:/web
      steps:
        - to: "http://seen/one?bridgeEndpoint=true"
        - toD: "http://far/${header.n}"
        - setBody: {simple: "${body}-${header.seen}-${exchangeProperty.CamelToEndpoint}"}
- route:
    id: fails
    from:
      uri: direct:fails
      steps:
        - to: {id: risky, uri: "file:out"}
        - setBody: {constant: not reached}
- route:
    id: ill
    from:
      uri: direct:ill
      steps:
        - throwException: {exceptionType: java.lang.IllegalStateException, message: "ill ${body}"}
- route:
    id: fan
    from:
      uri: seda:fan
      steps:
        - split:
            simple: "${body}"
            steps:
              - to: mock:items
        - log: {message: "fanned ${body}", loggingLevel: WARN}
'''
GOOD = '''routes: routes.yaml
replace:
  - uri: "http://seen/*"
    mock: seen
    steps:
      - setBody: {simple: "<${body}>"}
  - {uri: "http://far/*", mock: far}
  - step: risky
    mock: risky
    steps:
      - throwException: {exceptionType: java.io.FileNotFoundException, message: gone}
tests:
  - name: replaced endpoints keep their names
    send:
      route: web
      body: b
      headers: {n: "7"}
      expect:
        body: "<b>-http://seen/one?bridgeEndpoint=true-http://far/7"
    expect:
      - {mock: seen, bodies: [b]}
      - {mock: far, messages: [{body: "<b>", headers: {N: "7", absent: null}, headersMatch: {seen: "^http:"}, type: java.lang.String}]}
      - order: [seen, far]
  - name: what a mock throws goes to the handlers of the route
    send: {to: "direct:fails", expect: {bodyContains: [caught gone, "mock.risky"], bodyMatches: "^caught"}}
    expect: {mock: risky}
  - name: exceptions
    send:
      - {to: "direct:ill", body: x, expect: {exception: IllegalStateException, messageMatches: "^ill x$"}}
      - {to: "direct:ill", body: x, expect: {exception: java.lang.RuntimeException}}
  - name: items
    send: {route: fan, body: "a,b,c", times: 2}
    expect:
      - {mock: items, count: 6, messages: [{body: a, properties: {CamelSplitIndex: "0"}}, {body: b}, {body: c}]}
      - {mock: items, atLeast: 2, atMost: 6, anyOrder: true, bodies: [c, a]}
      - {log: "^fanned a,b,c$", count: 2, level: warning, logger: fan}
      - {mock: risky, count: 0}
  - name: nothing is kept of the tests before
    expect: {mock: items, count: 0}
'''
BAD = '''routes: routes.yaml
replace:
  - {uri: "http://*", mock: http}
tests:
  - name: body
    send: {route: web, body: b, expect: {body: other}}
  - name: exception & <more>
    send: {to: "direct:ill", body: x}
  - name: none came
    send: {route: web, expect: {exception: java.lang.Exception}}
  - name: count
    within: 100ms
    send: {route: web, body: q}
    expect:
      - {mock: http, bodies: [q, w, q]}
      - {order: [http]}
      - {log: "not said"}
      - {mock: nobody, atLeast: 1}
  - name: no such endpoint
    send: {to: "direct:nobody"}
'''


class Folder:
    def __init__(self, **files):
        self.files = files

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix='ht-')
        path = self.temporary.__enter__()
        for name, text in dict({'routes': ROUTES}, **self.files).items():
            with open(os.path.join(path, name + '.yaml'), 'w') as f:
                f.write(text)
        return path

    def __exit__(self, *a):
        self.temporary.__exit__(*a)


def lines(out, number):
    """Failures of test `number`."""
    part = out.split('ok %d - ' % number)[1].split('ok %d - ' % (number + 1))[0]
    return [x[2:] for x in part.splitlines() if x.startswith('# ')]


def test_all_pass():
    with Folder(t=GOOD) as d:
        status, out, err = hinny('test', 't.yaml', cwd=d)
        assert status == 0 and err == '', out + err
        assert out.startswith('TAP version 13\n1..5\nok 1 - replaced endpoints keep their names\n'), out
        assert out.endswith('# 5 passed, 0 failed\n'), out
        assert sorted(os.listdir(d)) == ['routes.yaml', 't.yaml'], 'nothing is left behind'


def test_failures_are_found():
    with Folder(t=BAD) as d:
        status, out, err = hinny('test', '--junit', 'j.xml', 't.yaml', cwd=d)
        assert status == 1 and err == '' and out.count('not ok') == 5, out + err
        assert lines(out, 1) == ['t.yaml:6: answer\'s body: expected "other", got "b-http://seen/one?bridgeEndpoint=true-http://far/"'], lines(out, 1)
        assert lines(out, 2) == ['t.yaml:8: send: failed with java.lang.IllegalStateException: ill x'], lines(out, 2)
        assert 'expected java.lang.Exception, but none came out' in lines(out, 3)[0]
        four = '\n'.join(lines(out, 4))
        for text in ('t.yaml:15: mock http: expected 3 messages, got 2', 'message 2: body: expected "w", got "q"',
                     't.yaml:16: order: the messages came to [http, http]', 't.yaml:17: log: expected at least 1 lines like "not said", got 0',
                     't.yaml:18: mock nobody: expected at least 1 messages, got 0'):
            assert text in four, four
        assert 'direct://nobody' in lines(out, 5)[0], lines(out, 5)
        suite = ElementTree.parse(os.path.join(d, 'j.xml')).getroot()[0]
        assert (suite.get('tests'), suite.get('failures')) == ('5', '5')
        assert [c.get('name') for c in suite][1] == 'exception & <more>'
        assert suite[0][0].get('message').startswith('t.yaml:6: ') and suite[0].get('line') == '5'


def test_several_files():
    with Folder(a=GOOD, b=BAD) as d:
        status, out, _ = hinny('test', '--junit', 'j.xml', 'a.yaml', 'b.yaml', cwd=d)
        assert status == 1 and '1..10' in out and out.endswith('# 5 passed, 5 failed\n'), out
        suites = ElementTree.parse(os.path.join(d, 'j.xml')).getroot()
        assert [s.get('name') for s in suites] == ['a.yaml', 'b.yaml']


def test_files_that_are_wrong():
    cases = (
        ('tests: [{name: x}]\n', 'expected "routes"'),
        ('routes: routes.yaml\n', 'expected "tests"'),
        ('routes: routes.yaml\ntests: [{nme: x}]\n', 't.yaml:2:10: unknown key "nme" of tests, did you mean "name"'),
        ('routes: routes.yaml\ntests: [{send: {to: "direct:ill", route: ill}}]\n', 'expected one of "to" and "route"'),
        ('routes: routes.yaml\ntests: [{send: {route: nobody}}]\n', 't.yaml:2:16: send: there is no route "nobody"'),
        ('routes: routes.yaml\nreplace: [{step: nothing, mock: m}]\ntests: [{name: x}]\n', 't.yaml:2:11: replace: there is no step "nothing"'),
        ('routes: routes.yaml\nreplace: [{uri: "http:*"}]\ntests: [{name: x}]\n', 'expected one of "mock" and "with"'),
        ('routes: routes.yaml\nreplace: [{uri: "http:*", mock: m, steps: [{setBdy: {constant: x}}]}]\ntests: [{name: x}]\n', 't.yaml:2:45: '),
        ('routes: routes.yaml\ntests: [{expect: {mock: m, count: many}}]\n', 'count: expected a whole number from 0 on, got "many"'),
        ('routes: routes.yaml\ntests: [{expect: {log: "("}}]\n', 't.yaml:2:24: log: '),
        ('routes: routes.yaml\ntests: [{send: {to: "direct:ill", expect: {exception: NoSuch}}}]\n', 'no class "NoSuch" is known'),
        ('routes: routes.yaml\ntests: [{within: soon}]\n', 'expected a duration'),
        ('routes: none.yaml\ntests: [{name: x}]\n', 'none.yaml'),
        ('routes: [routes.yaml\n', 't.yaml:'),
        ('- a\n', 'expected a map for a test file, got a list'),
    )
    for text, said in cases:
        with Folder(t=text) as d:
            status, out, err = hinny('test', 't.yaml', cwd=d)
            assert status == 2 and said in err and out == '', (text, status, out, err)
    assert hinny('test', 'absent.yaml')[0] == 2
    assert hinny('test')[0] == 2


def test_routes_that_are_wrong():
    with Folder(t='routes: bad.yaml\ntests: [{name: x}]\n', bad='- from: {uri: "direct:a", steps: [{setBdy: {constant: x}}]}\n') as d:
        status, out, err = hinny('test', 't.yaml', cwd=d)
        assert status == 2 and 'bad.yaml:1:36: ' in err and out == '', err


def test_nothing_is_left_when_it_is_killed():
    text = 'routes: routes.yaml\ntests: [{within: 60s, expect: {mock: items}}]\n'
    with Folder(t=text) as d:
        p = subprocess.Popen([os.path.join(BUILD, 'hinny'), 'test', 't.yaml'], cwd=d, env=env(), stdout=subprocess.DEVNULL)
        until(lambda: children(p.pid) and len(children(children(p.pid)[0])) > 0, 10)
        pids = children(p.pid) + children(children(p.pid)[0])
        os.kill(p.pid, signal.SIGKILL)
        p.wait(10 * SLOW)
        until(lambda: not any(alive(pid) for pid in pids), 15, 'its broker ends')


if __name__ == '__main__':
    main(globals())
