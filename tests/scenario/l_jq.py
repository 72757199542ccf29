#!/usr/bin/env python3
"""The jq language in a running broker: values, headers, split, bounds of time and memory, and what is refused at load."""
import os
import sys
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SANITIZED, Broker, hinny, main, until

ROUTES = '''
- from:
    uri: platform-http:/jq
    steps:
      - setProperty: {name: pp, constant: p1}
      - setVariable: {name: vv, constant: v1}
      - setHeader: {name: n, jq: .name}
      - choice:
          when:
            - jq: .id == 7
              steps:
                - setBody:
                    jq: '{a: header("A"), p: property("pp"), v: variable("vv"), c: constant("5"; "Integer")}'
          otherwise:
            steps:
              - setBody: {simple: "no ${jq(.id)} ${jq(.tags | length)} ${jq(header:A, .q)}"}
- from:
    uri: platform-http:/split
    steps:
      - split:
          jq: .items
          aggregationStrategy: "#class:org.apache.camel.processor.aggregate.StringAggregationStrategy"
          steps:
            - setBody: {simple: "${body} ${jq(.p)}"}
- from: {uri: "platform-http:/text", steps: [{setBody: {jq: .name}}]}
- from: {uri: "platform-http:/plain", steps: [{setBody: {jq: {expression: .name, resultType: String}}}]}
- from: {uri: "platform-http:/loop", steps: [{setBody: {jq: "last(range(infinite))"}}]}
- from: {uri: "platform-http:/memory", steps: [{setBody: {jq: "[range(infinite)]"}}]}
'''
ORDER = b'{"id":7,"name":"Jo","tags":["a","b"],"items":[{"p":5},{"p":15}]}'
JSON = {'Content-Type': 'application/json'}


def post(b, path, body=ORDER, **headers):
    status, got, text = b.request('POST', path, body, dict(JSON, **headers))
    return status, text.decode(), got


def test_values():
    with Broker({'r.yaml': ROUTES}) as b:
        status, text, headers = post(b, '/jq', A='hdr')
        assert (status, text) == (200, '{"a":"hdr","p":"p1","v":"v1","c":5}'), (status, text)
        assert headers['n'] == 'Jo'
        assert post(b, '/jq', b'{"id":8,"name":"x","tags":[1]}', A='{"q":[1,2]}')[:2] == (200, 'no 8 1 [ 1, 2 ]')
        assert post(b, '/split')[:2] == (200, '{\n  "p" : 5\n} 5{\n  "p" : 15\n} 15'), post(b, '/split')
        assert post(b, '/text')[:2] == (200, 'Jo')
        assert post(b, '/plain')[:2] == (200, 'Jo')
        assert post(b, '/text', b'{x')[0] == 500 and post(b, '/text', b'')[0] == 204
        assert b.status()['kinds']['jq']['deaths'] == 0


def test_run_away():
    """A program that runs for ever, or takes all memory, costs its own message and a process, and nobody else's."""
    with Broker({'r.yaml': ROUTES}, settings=['xform.time_limit=700ms' if not SANITIZED else 'xform.time_limit=4s',
                                              'workers.jq.instances=2']) as b:
        assert post(b, '/loop')[0] == 500
        assert post(b, '/text')[:2] == (200, 'Jo')
    if not SANITIZED:  # whose own memory would count
        with Broker({'r.yaml': ROUTES}, settings=['jq.max_memory=64MiB', 'workers.jq.instances=2']) as b:
            assert post(b, '/memory')[0] == 500
            until(lambda: 'a jq program took more memory than jq.max_memory' in b.log(), 10, 'the reason')
            until(lambda: b.status()['kinds']['jq']['serving'] == 2, 10)
            assert post(b, '/text')[:2] == (200, 'Jo')


def refused(program):
    with open('bad.yaml', 'w') as f:
        f.write('- from:\n    uri: direct:x\n    steps:\n      - setBody:\n          jq: %s\n' % program)
    status, out, err = hinny('check', 'bad.yaml')
    assert status == 1, (program, out, err)
    return err + out


def test_refused_at_load():
    os.chdir(os.environ.get('TMPDIR', '/tmp'))
    try:
        text = refused("'.a | nosuch(1)'")
        assert 'bad.yaml:5:15: ' in text and 'nosuch/1 is not defined at character 6' in text, text
        text = refused("'.a b'")
        assert 'bad.yaml:5:15: ' in text and 'at character 4' in text, text
        text = refused("'[.a'")
        assert 'a bracket is not closed at character 1' in text, text
    finally:
        os.unlink('bad.yaml')


if __name__ == '__main__':
    main(globals())
