#!/usr/bin/env python3
"""Templates, Kamelets, preconditions and properties beside the route files, through a running broker and hinny check."""
import json
import os
import sys
import tempfile
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, Skip, hinny, main, until


def kamelet(name, steps, properties='{}', begin='kamelet:source'):
    return '''
apiVersion: camel.apache.org/v1
kind: Kamelet
metadata: {name: %s}
spec:
  definition: {properties: %s}
  template:
    from:
      uri: %s
      steps:%s
''' % (name, properties, begin, steps)


SHOUT = kamelet('shout-action', '''
        - setBody: {simple: "${body}{{end}}"}
        - to: kamelet:sink''', '{end: {default: "!"}}')
FAIL = kamelet('fail-action', '''
        - onException: {exception: [java.lang.Exception], handled: {constant: "true"}, steps: [{setBody: {constant: inside}}]}
        - throwException: {exceptionType: java.lang.IllegalStateException, message: "{{why}}"}''', '{why: {type: string}}')
TICK = kamelet('tick-source', '''
        - setBody: {constant: "{{text}}"}
        - to: kamelet:sink''', '{text: {type: string}, times: {type: integer}}', 'timer:tick?period=10&repeatCount={{?times}}')

ROUTES = '''
- route:
    from:
      uri: platform-http:/plain
      steps: [{to: kamelet:shout-action}, {to: "kamelet:shout-action?end=%3F"}]
- route:
    from:
      uri: platform-http:/inner
      steps:
        - kamelet: {name: shout-action, steps: [{setBody: {simple: "[${body}]"}}]}
        - setBody: {simple: "<${body}>"}
- route:
    from:
      uri: platform-http:/fails
      steps:
        - onException: {exception: [java.lang.IllegalStateException], handled: {constant: "true"}, steps: [{setBody: {simple: "outside ${exception.message}"}}]}
        - to: {uri: kamelet:fail-action, parameters: {why: "because", noErrorHandler: true}}
- route:
    from:
      uri: platform-http:/handles
      steps:
        - onException: {exception: [java.lang.IllegalStateException], handled: {constant: "true"}, steps: [{setBody: {simple: outside}}]}
        - to: {uri: kamelet:fail-action, parameters: {why: "because"}}
- route:
    from:
      uri: platform-http:/steps-fail
      steps:
        - onException: {exception: [java.lang.IllegalStateException], handled: {constant: "true"}, steps: [{setBody: {simple: "caught"}}]}
        - kamelet:
            name: shout-action
            steps: [{throwException: {exceptionType: java.lang.IllegalStateException, message: x}}]
        - setBody: {constant: never}
'''


def test_kamelets():
    with Broker({'r.yaml': ROUTES, 'shout-action.kamelet.yaml': SHOUT, 'kamelets/fail-action.kamelet.yaml': FAIL}, routes=['r.yaml']) as b:
        assert b.post('/plain', 'a')[2] == b'a!?'
        assert b.post('/inner', 'a')[2] == b'<[a!]>'
        assert b.post('/fails', 'a')[2] == b'outside because'  # told to have no error handler
        assert b.post('/handles', 'a')[2] == b'inside'
        assert b.post('/steps-fail', 'a')[2] == b'caught'
        assert b.stop() == 0


def test_source():
    routes = '- from: {uri: "kamelet:tick-source?text=tock&times=3", steps: [{log: "got ${body} in ${routeId}"}]}'
    with Broker({'r.yaml': routes, 'lib/tick-source.kamelet.yaml': TICK}, args=['--kamelets', 'lib'], routes=['r.yaml'], settings=['log.format=plain']) as b:
        until(lambda: b.lines.count('got tock in route1') == 3)
        assert b.stop() == 0 and b.lines.count('got tock in route1') == 3


def test_edited_kamelet_reloads():
    routes = '- from: {uri: "platform-http:/a", steps: [{to: kamelet:shout-action}]}'
    with Broker({'r.yaml': routes, 'kamelets/shout-action.kamelet.yaml': SHOUT}, routes=['r.yaml'], watch=True) as b:
        assert b.post('/a', 'a')[2] == b'a!'
        b.write('kamelets/shout-action.kamelet.yaml', SHOUT.replace('"!"', '"?!"'))
        until(lambda: b.post('/a', 'a')[2] == b'a?!')
        b.write('kamelets/shout-action.kamelet.yaml', SHOUT.replace('setBody', 'setBodi'))
        b.wait_line(r'kamelets/shout-action.kamelet.yaml:11:11:.*setBodi.*used at r.yaml:1:\d+')
        assert b.post('/a', 'a')[2] == b'a?!'


def folder(files):
    d = tempfile.mkdtemp(prefix='ht-')
    for name, text in files.items():
        path = os.path.join(d, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as f:
            f.write(text)
    return d


def test_check_of_a_kamelet():
    d = folder({'shout-action.kamelet.yaml': SHOUT, 'tick-source.kamelet.yaml': TICK, 'fail-action.kamelet.yaml': FAIL,
                'bad-sink.kamelet.yaml': kamelet('bad-sink', '\n        - to: "nosuch:{{a}}"\n        - delay: {constant: "{{a}}"}\n        - to: "log:x?lvel={{a}}"', '{a: {}}')})
    assert hinny('check', 'shout-action.kamelet.yaml', 'tick-source.kamelet.yaml', 'fail-action.kamelet.yaml', cwd=d)[0] == 0
    status, out, err = hinny('check', 'bad-sink.kamelet.yaml', cwd=d)
    assert status == 1 and [line.split(':')[1] for line in err.splitlines()] == ['11', '13'], err
    assert 'unknown component "nosuch"' in err and 'did you mean "level"' in err


def test_optional_parameters_of_a_kamelet():
    """Checked alone, what {{?x}} stands for is not there: an option that this release lacks is refused where it is used, and only then."""
    d = folder({'out-sink.kamelet.yaml': kamelet('out-sink', '\n        - to: {uri: "kafka:{{t}}", parameters: {brokers: "{{b}}", oauthScope: "{{?scope}}"}}',
                                                 '{t: {}, b: {}, scope: {}}'),
                'r.yaml': '- from: {uri: direct:a, steps: [{to: "kamelet:out-sink?t=a&b=b:1"}]}',
                'bad.yaml': '- from: {uri: direct:a, steps: [{to: "kamelet:out-sink?t=a&b=b:1&scope=x"}]}'})
    for name in 'out-sink.kamelet.yaml', 'r.yaml':
        status, out, err = hinny('check', name, cwd=d)
        assert status == 0, err
    status, out, err = hinny('check', 'bad.yaml', cwd=d)
    assert status == 1 and 'option "oauthScope" of kafka is not implemented' in err and 'used at bad.yaml:1:' in err, err


DESERIALIZE = '''
apiVersion: camel.apache.org/v1
kind: Kamelet
metadata: {name: text-action}
spec:
  definition: {properties: {deserializeHeaders: {type: boolean, default: true}}}
  template:
    beans:
      - name: kafkaHeaderDeserializer
        type: "#class:org.apache.camel.component.kafka.KafkaHeaderDeserializer"
        properties: {enabled: "{{deserializeHeaders}}"}
    from:
      uri: kamelet:source
      steps:
        - process: {ref: "{{kafkaHeaderDeserializer}}"}
'''


def test_built_in_processor():
    routes = ''.join('''
- from:
    uri: platform-http:/%s
    steps:
      - setBody: {constant: caf}
      - convertBodyTo: {type: "byte[]"}
      - setHeader: {name: h, simple: "${body}"}
      - convertHeaderTo: {name: h, type: "byte[]"}
      - to: kamelet:text-action?deserializeHeaders=%s
      - setBody: {header: h}
      - marshal: {json: {}}
''' % (name, name) for name in ('true', 'false'))
    with Broker({'r.yaml': routes, 'text-action.kamelet.yaml': DESERIALIZE}, routes=['r.yaml']) as b:
        assert b.get('/true')[2] == b'"caf"'
        assert b.get('/false')[2] == b'"Y2Fm"'


def test_properties_beside_and_named():
    routes = '- from: {uri: "direct:a", steps: [{log: "{{a}} {{b}}"}]}'
    d = folder({'one/r.yaml': routes, 'one/application.properties': 'a=1\nb=2\n', 'two.properties': 'a=3\n', 'three.properties': 'a=4\nb=5\n',
                'hinny.yaml': 'routes: [one/r.yaml]\n'})
    assert hinny('check', 'one/r.yaml', cwd=d)[0] == 0
    assert hinny('check', 'one', cwd=d)[0] == 0
    assert hinny('check', '-c', 'hinny.yaml', cwd=d)[0] == 0
    status, out, err = hinny('check', '--properties', 'two.properties', 'one/r.yaml', cwd=d)
    assert status == 1 and '"b" is not defined' in err and '"a"' not in err, err
    assert hinny('check', '--properties', 'two.properties', '--properties', 'three.properties', 'one/r.yaml', cwd=d)[0] == 0
    status, out, err = hinny('check', '--properties', 'four.properties', 'one/r.yaml', cwd=d)
    assert status == 1 and 'four.properties' in err


def test_check_says_all_at_once():
    """What the owners of a stylesheet, a schema, an XPath or a jq program find comes with what is wrong elsewhere, in order."""
    routes = '''
- from:
    uri: direct:a
    steps:
      - setBodi: {constant: a}
      - to: xslt:bad.xsl
      - filter: {simple: "${body}", steps: [{setBody: {xpath: "//@"}}, {nosuch: {}}]}
      - to: validator:bad.xsd
      - to: kamelet:path-action
      - to: "{{nope}}"
      - aggregate:
          correlationExpression: {constant: a}
          completionSize: 2
          aggregationStrategy: "#class:org.apache.camel.processor.aggregate.GroupedBodyAggregationStrategy"
          steps: [{log: a}]
'''
    d = folder({'r.yaml': routes, 'path-action.kamelet.yaml': kamelet('path-action', '\n        - setBody: {xpath: "/a/@"}'),
                'bad.xsl': '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="a["/></xsl:stylesheet>',
                'bad.xsd': '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="nope"/></xs:schema>'})
    status, out, err = hinny('check', 'r.yaml', cwd=d)
    if 'is not installed' in err:
        raise Skip('no hinny-xform')
    where = [':'.join(line.split(':')[:2]) for line in err.splitlines()]
    assert status == 1 and where == ['path-action.kamelet.yaml:11'] + ['r.yaml:%d' % n for n in (5, 6, 7, 7, 8, 10)], err
    assert 'used at r.yaml:9:13' in err.splitlines()[0], err
    problems = json.loads(hinny('check', '--json', 'r.yaml', cwd=d)[1])['problems']
    assert sorted(p['line'] for p in problems) == [5, 6, 7, 7, 8, 10, 11], problems


def test_check_of_owners_beside_what_is_missing():
    d = folder({'r.yaml': '- from: {uri: "kamelet:nope-source", steps: [{setBody: {jq: .a}}, {filter: {xpath: "/a", steps: [{log: a}]}}]}'})
    status, out, err = hinny('check', 'r.yaml', cwd=d)
    assert status == 1 and err.startswith('r.yaml:1:15: there is no kamelet "nope-source"') and err.count('\n') == 1, err


def test_after_uri_and_variables():
    routes = '''
- interceptSendToEndpoint: {uri: "direct:b", afterUri: "direct:after", steps: [{setHeader: {name: X-Before, simple: "${body}"}}]}
- interceptSendToEndpoint: {uri: "direct:c", afterUri: "direct:after", skipSendToOriginalEndpoint: true, steps: [{setBody: {constant: skipped}}]}
- interceptSendToEndpoint: {uri: "direct:d", afterUri: "direct:after", onWhen: {simple: "${body} == 'no'"}, steps: [{setBody: {constant: taken}}]}
- from: {uri: "platform-http:/b", steps: [{to: "direct:b"}]}
- from: {uri: "platform-http:/c", steps: [{to: "direct:c"}]}
- from: {uri: "platform-http:/d", steps: [{to: "direct:d"}]}
- from: {uri: "platform-http:/v", steps: [{to: "direct:v"}]}
- from: {uri: "direct:b", steps: [{setBody: {simple: "${body}+b"}}]}
- from: {uri: "direct:c", steps: [{setBody: {simple: "${body}+c"}}]}
- from: {uri: "direct:d", steps: [{setBody: {simple: "${body}+d"}}]}
- from: {uri: "direct:after", steps: [{setBody: {simple: "${body}+after"}}]}
- from: {uri: "direct:v", variableReceive: v, steps: [{setBody: {simple: "[${body}] ${variable.v} ${header.X-A} ${variable.header:v.X-A}"}}]}
'''
    with Broker({'r.yaml': routes}) as b:
        status, headers, body = b.post('/b', 'x')
        assert (status, headers['x-before'], body) == (200, 'x', b'x+b+after')
        assert b.post('/c', 'x')[2] == b'skipped'
        assert b.post('/d', 'x')[2] == b'x+d'
        assert b.post('/d', 'no')[2] == b'taken+d+after'
        assert b.post('/v', 'x', {'X-A': 'a'})[2] == b'[] x a a'


def test_preconditions():
    routes = '''
- route: {id: on, precondition: "'{{?which}}' == 'on'", from: {uri: "platform-http:/on", steps: [{setBody: {constant: on}}]}}
- route: {id: off, precondition: "'{{?which}}' != 'on'", from: {uri: "platform-http:/off", steps: [{setBody: {constant: off}}]}}
'''
    with Broker({'r.yaml': routes}, properties=['which=on']) as b:
        assert [r['id'] for r in json.loads(b.hinny('routes', '--json', check=True)[1])['routes']] == ['on']
        assert b.get('/on')[0] == 200 and b.get('/off')[0] == 404
    with Broker({'r.yaml': routes}) as b:
        assert b.get('/on')[0] == 404 and b.get('/off')[0] == 200


if __name__ == '__main__':
    main(globals())
