#!/usr/bin/env python3
"""Faults and questions that people reported of integration products, with what is right: refusals at start, XML."""
import os
import re
import socket
import sys
import threading
import time
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SANITIZED, SLOW, Broker, free_port, hinny, main, until


def refused(files, *words, at=None):
    """The file is refused by `hinny run` (status 1, nothing listens) and by `hinny check` with the same line, which has all the words."""
    if isinstance(files, str):
        files = {'r.yaml': files}
    with Broker(files, wait=False) as b:
        assert b.proc.wait(20 * SLOW) == 1, b.log()
        b.reader.join(5)
        said = b.lines
        status, out, err = hinny('check', *[n for n in files if n.endswith('.yaml')], cwd=b.folder)
        assert status == 1, out + err
        lines = [x for x in said if all(w in x for w in words) and x.startswith(at or '')]
        assert lines, '%r %s not in\n%s' % (words, at, b.log())
        assert lines[0] in (out + err).splitlines(), (lines[0], out + err)
        with socket.socket() as s:
            assert s.connect_ex(('127.0.0.1', b.port)) != 0


# ---- B01 to B03

def test_b01_steps_beside_from():
    refused('- route:\n    from:\n      uri: platform-http:/b01\n    steps:\n      - setBody:\n          constant: hi\n', 'steps', at='r.yaml:4:5:')


def test_b01_misspelt_option():
    refused('- from:\n    uri: platform-http:/b01\n    steps:\n      - to:\n          uri: log:x\n          paramters: {showHeaders: true}\n',
            'paramters', 'parameters', at='r.yaml:6:')


def test_b01_unknown_endpoint_option():
    refused('- from:\n    uri: timer:t\n    parameters:\n      perod: 1000\n    steps:\n      - log: x\n', 'perod', 'period', at='r.yaml:4:')


def test_b02_option_at_the_indentation_of_its_step():
    text = '- from:\n    uri: platform-http:/b02\n    steps:\n      - setBody:\n        constant: foo\n      - to: log:info\n        parameters: {showHeaders: true}\n'
    refused(text, 'setBody', 'constant', 'indent', at='r.yaml:4:')
    refused(text.replace('        constant', '          constant'), 'to', 'parameters', 'indent', at='r.yaml:6:')


def test_b03_unknown_entry_at_the_top():
    refused('- route: {id: good, from: {uri: "platform-http:/b03", steps: [{setBody: {constant: {expression: ok}}}]}}\n'
            '- rout:  {id: bad,  from: {uri: "platform-http:/b03x", steps: [{setBody: {constant: {expression: never}}}]}}\n', 'rout', at='r.yaml:2:')


def test_all_errors_of_all_files():
    bad = '- from:\n    uri: platform-http:/%s\n    steps:\n      - nonsense: x\n      - setBody: {simple: "${bod}"}\n      - to: "nowhere:x"\n'
    with Broker({'one.yaml': bad % 'a', 'two.yaml': bad % 'b'}, wait=False) as b:
        assert b.proc.wait(20 * SLOW) == 1
        b.reader.join(5)
        for name in ('one.yaml', 'two.yaml'):
            for line, word in ((4, 'nonsense'), (6, 'nowhere')):
                assert [x for x in b.lines if x.startswith('%s:%d:' % (name, line)) and word in x], b.log()


def test_yaml_1_2_scalars_and_duplicate_keys():
    refused('- from:\n    uri: platform-http:/a\n    uri: platform-http:/b\n    steps:\n      - log: x\n', 'uri', at='r.yaml:3:')
    routes = '- from:\n    uri: platform-http:/y\n    steps:\n      - setBody: {constant: yes}\n- from:\n    uri: platform-http:/o\n    steps:\n      - setBody: {constant: 0777}\n'
    with Broker({'r.yaml': routes}) as b:
        assert b.get('/y')[2] == b'yes'
        assert b.get('/o')[2] == b'0777'


# ---- B15

SHEETS = {
    'text.xsl': '<xsl:output method="text"/>\n  <xsl:template match="/order">{"id":"<xsl:value-of select="@id"/>"}</xsl:template>',
    'omit.xsl': '<xsl:output method="xml" omit-xml-declaration="yes"/>\n  <xsl:template match="/order"><o id="{@id}"/></xsl:template>',
    'latin1.xsl': '<xsl:output method="xml" encoding="ISO-8859-1"/>\n  <xsl:template match="/order"><o n="{name}"/></xsl:template>',
    'identity.xsl': '<xsl:output omit-xml-declaration="yes"/><xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>',
}
SHEETS = {k: '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">\n  %s\n</xsl:stylesheet>\n' % v for k, v in SHEETS.items()}
SHEET_ROUTES = ''.join('- from:\n    uri: platform-http:/%s\n    steps:\n      - to: xslt:%s.xsl\n' % (n, n) for n in ('text', 'omit', 'latin1', 'identity'))


def test_b15_xsl_output_is_obeyed():
    with Broker(dict(SHEETS, **{'r.yaml': SHEET_ROUTES})) as b:
        assert b.post('/text', '<order id="7"/>')[2] == b'{"id":"7"}'
        assert b.post('/omit', '<order id="7"/>')[2].rstrip(b'\n') == b'<o id="7"/>'
        body = b.post('/latin1', '<order><name>café €</name></order>'.encode())[2]
        assert b'encoding="ISO-8859-1"' in body and b'n="caf\xe9 &#8364;"' in body, body


# ---- B16

B16 = '''- from:
    uri: platform-http:/b16/plain
    steps:
      - choice:
          when:
            - xpath: "/order/total > 100"
              steps: [{setBody: {constant: "yes"}}]
          otherwise: {steps: [{setBody: {constant: "no"}}]}
- from:
    uri: platform-http:/b16/prefix
    steps:
      - choice:
          when:
            - xpath: {expression: "/o:order/o:total > 100", namespace: [{key: o, value: "urn:example:orders"}]}
              steps: [{setBody: {constant: "yes"}}]
          otherwise: {steps: [{setBody: {constant: "no"}}]}
- from:
    uri: platform-http:/b16/null
    steps:
      - setBody: {simple: "${null}"}
      - choice:
          when:
            - xpath: "/order/total > 100"
              steps: [{setBody: {constant: "yes"}}]
          otherwise: {steps: [{setBody: {constant: "no"}}]}
- from:
    uri: platform-http:/b16/empty
    steps:
      - setBody: {constant: ""}
      - filter: {xpath: "/order/total > 100", steps: [{log: never}]}
- from:
    uri: platform-http:/b16/count
    steps:
      - setBody: {xpath: {expression: "count(/order/line)", resultType: java.lang.Integer}}
'''


def test_b16_xpath_and_a_default_namespace():
    table = (
        ('<order xmlns="urn:example:orders"><total>150</total></order>', b'no', b'yes'),
        ('<order><total>150</total></order>', b'yes', b'no'),
        ('<p:order xmlns:p="urn:example:orders"><p:total>99</p:total></p:order>', b'no', b'no'),
        ('<order xmlns="urn:example:orders"><total>abc</total></order>', b'no', b'no'),
    )
    with Broker({'r.yaml': B16}) as b:
        for text, plain, prefix in table:
            assert b.post('/b16/plain', text)[::2] == (200, plain), text
            assert b.post('/b16/prefix', text)[::2] == (200, prefix), text
        assert b.post('/b16/count', '<order><line/><line/></order>')[2] == b'2'
        assert b.get('/b16/null')[::2] == (200, b'no')
        assert b.get('/b16/empty')[0] == 500
        for broken in ('no xml', '<order>', '<a/><b/>'):
            assert b.post('/b16/prefix', broken)[0] == 500, broken
        assert b.post('/b16/plain', table[1][0])[2] == b'yes'
        assert b.status()['kinds']['xform']['deaths'] == 0


def test_b16_a_prefix_that_is_not_declared():
    refused('- from:\n    uri: platform-http:/x\n    steps:\n      - filter:\n          xpath: "/q:order"\n          steps: [{log: x}]\n', 'namespace', 'q:order', at='r.yaml:5:')


# ---- B17

B17 = SHEET_ROUTES + '''- from:
    uri: platform-http:/xpath
    steps:
      - setBody: {xpath: {expression: "string(/a)", resultType: java.lang.String}}
'''


def bomb():
    text = '<!ENTITY a0 "ha">'
    for n in range(1, 9):
        text += '<!ENTITY a%d "%s">' % (n, '&a%d;' % (n - 1) * 10)
    return '<!DOCTYPE a [%s]><a>&a8;</a>' % text


def test_b17_external_entities():
    port, knocks = free_port(), []
    listener = socket.create_server(('127.0.0.1', port))

    def count():
        while True:
            try:
                s, _ = listener.accept()
            except OSError:
                return
            knocks.append(1)
            s.close()
    threading.Thread(target=count, daemon=True).start()
    with Broker(dict(SHEETS, **{'r.yaml': B17, 'marker.txt': 'THE-MARKER'})) as b:
        marker = os.path.join(b.folder, 'marker.txt')
        for path in ('/xpath', '/identity'):
            for text in ('<!DOCTYPE a [<!ENTITY x SYSTEM "file://%s">]><a>[&x;]</a>' % marker,
                         '<!DOCTYPE a SYSTEM "http://127.0.0.1:%d/x.dtd"><a>ok</a>' % port,
                         '<!DOCTYPE a [<!ENTITY %% p SYSTEM "http://127.0.0.1:%d/x.ent"> %%p;]><a>ok</a>' % port,
                         '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="file://%s"/></a>' % marker):
                status, headers, body = b.post(path, text)
                assert b'THE-MARKER' not in body + repr(headers).encode(), (path, text)
                if path == '/xpath' and 'DOCTYPE' in text:
                    assert status == 500, (text, status, body)
            before = b.pss_kib()
            began = time.monotonic()
            status, _, body = b.post(path, bomb())
            assert status == 500 and time.monotonic() - began < 2 * SLOW, (path, status, len(body))
            assert SANITIZED or b.pss_kib() < before + 50 * 1024
        assert b.post('/xpath', '<a>fine</a>')[2] == b'fine'
        assert b.post('/identity', '<a>fine</a>')[2].rstrip() == b'<a>fine</a>'
        assert b.status()['kinds']['xform']['deaths'] == 0
        assert 'THE-MARKER' not in b.log()
    assert not knocks
    listener.close()


def test_a_stylesheet_reads_only_in_its_folder():
    """document() and xsl:include: the folder of the stylesheet and below, nothing else, nothing from the network."""
    head = '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>'
    files = {
        'r.yaml': '- from:\n    uri: platform-http:/in\n    steps: [{to: "xslt:sheets/in.xsl"}]\n- from:\n    uri: platform-http:/out\n    steps: [{to: "xslt:sheets/out.xsl"}]\n',
        'sheets/in.xsl': head + '<xsl:include href="sub/part.xsl"/></xsl:stylesheet>',
        'sheets/sub/part.xsl': head + '<xsl:template match="/"><xsl:value-of select="document(\'data.xml\')/d"/></xsl:template></xsl:stylesheet>',
        'sheets/sub/data.xml': '<d>inside</d>',
        'sheets/out.xsl': head + '<xsl:template match="/">[<xsl:value-of select="document(/u)"/>]</xsl:template></xsl:stylesheet>',
        'secret.xml': '<d>THE-SECRET</d>',
    }
    with Broker(files) as b:
        assert b.post('/in', '<u/>')[2] == b'inside'
        for uri in (os.path.join(b.folder, 'secret.xml'), 'file://' + os.path.join(b.folder, 'secret.xml'), '../secret.xml', '/etc/hostname', 'http://127.0.0.1:%d/hello' % b.port):
            status, _, body = b.post('/out', '<u>%s</u>' % uri)
            assert b'THE-SECRET' not in body and (status == 500 or body == b'[]'), (uri, status, body)
    refused({'r.yaml': '- from:\n    uri: platform-http:/x\n    steps: [{to: "xslt:sheets/x.xsl"}]\n', 'sheets/x.xsl': head + '<xsl:include href="../other.xsl"/></xsl:stylesheet>',
             'other.xsl': head + '</xsl:stylesheet>'}, 'other.xsl')


# ---- B24: @NAME stands for a step that adds the body to the file NAME

B24 = '''
- from:
    uri: platform-http:/one
    steps:
      - onException:
          exception: [java.lang.IllegalStateException]
          handled: {constant: "true"}
          steps: [{setBody: {simple: "${body} ${exception.message}"}}, @one-handler]
      - split:
          tokenize: ","
          steps: [BAD, @one-item]
      - setBody: {simple: "after ${body}"}
- from:
    uri: platform-http:/two
    steps:
      - doTry:
          steps:
            - split:
                tokenize: ","
                stopOnException: true
                steps: [BAD, @two-item]
          doCatch: [{exception: [java.lang.IllegalStateException], steps: [{setHeader: {name: seen, simple: "${body}"}}]}]
          doFinally: {steps: [{setHeader: {name: finally, constant: "yes"}}]}
      - setBody: {simple: "after ${body} ${header.seen} ${header.finally}"}
- from:
    uri: platform-http:/three
    steps:
      - split:
          tokenize: ","
          steps: [BAD, @three-item]
      - setBody: {constant: never}
- from:
    uri: platform-http:/parts
    steps:
      - convertBodyTo: String
      - split: {tokenize: ",", steps: [@parts]}
      - setBody: {simple: "<${body}>"}
- from:
    uri: platform-http:/list
    steps:
      - unmarshal: {json: {}}
      - split: {simple: "${body}", steps: [@list]}
      - setBody: {simple: "<${body}>"}
'''


def test_b24_a_failing_part_of_a_split():
    bad = ('{filter: {simple: "${body} == \'bad\'", steps: [{throwException: '
           '{exceptionType: java.lang.IllegalStateException, message: bad item}}]}}')
    routes = re.sub(r'@([a-z-]+)', r'{to: {uri: "file:out", parameters: {fileName: \1, fileExist: Append, appendChars: "|"}}}',
                    B24.replace('BAD', bad))
    with Broker({'r.yaml': routes}) as b:
        def out(name):
            try:
                with open(os.path.join(b.folder, 'out', name)) as f:
                    return f.read()
            except FileNotFoundError:
                return None
        body, text = b'a,bad,c', {'Content-Type': 'text/plain'}
        assert b.post('/one', body, text)[::2] == (200, b'after a,bad,c')
        assert (out('one-item'), out('one-handler')) == ('a|c|', 'bad bad item|')
        assert b.post('/two', body, text)[::2] == (200, b'after a,bad,c a,bad,c yes')
        assert out('two-item') == 'a|'
        assert b.post('/three', body, text)[0] == 500
        assert out('three-item') == 'a|c|'
        assert b.post('/parts', b'', text)[::2] == (200, b'<>')
        assert out('parts') is None
        assert b.post('/parts', b'a,,b,', text)[::2] == (200, b'<a,,b,>')
        assert out('parts') == 'a||b|'
        assert b.post('/list', b'[]', {'Content-Type': 'application/json'})[::2] == (200, b'<[]>')
        assert out('list') is None


# ---- B04 to B06 are tests/unit/simple_cases.tsv; B06 in a log, and B18

def test_b06_signs_of_a_ternary_in_a_log():
    with Broker({'r.yaml': '- from:\n    uri: platform-http:/b06\n    steps:\n      - log: ">>> Message received : ${body} ? yes : no"\n'}) as b:
        assert b.request('POST', '/b06', b'abc', {'Content-Type': 'text/plain'})[0] == 200
        until(lambda: '>>> Message received : abc ? yes : no' in b.log(), 10, 'the line')


B18 = '''
- from:
    uri: platform-http:/plain
    steps:
      - choice:
          when:
            - jsonpath: $.room
              steps: [{setBody: {constant: when}}]
          otherwise:
            steps: [{setBody: {constant: otherwise}}]
- from:
    uri: platform-http:/suppressed
    steps:
      - choice:
          when:
            - jsonpath: {expression: $.room, suppressExceptions: true}
              steps: [{setBody: {constant: when}}]
          otherwise:
            steps: [{setBody: {constant: otherwise}}]
- from:
    uri: platform-http:/value
    steps:
      - setBody: {jsonpath: $.a.b}
      - setBody: {simple: "<${body}>"}
'''


def test_b18_the_property_is_not_there():
    """apache/camel-quarkus#2395."""
    with Broker({'r.yaml': B18}) as b:
        def ask(path, body):
            status, _, text = b.request('POST', path, body, {'Content-Type': 'application/json'})
            return status, text.decode()
        assert ask('/plain', b'{"x":1}')[0] == 500
        assert ask('/plain', b'{"room":"7"}') == (200, 'when')
        for body, want in ((b'{"x":1}', 'otherwise'), (b'{"room":null}', 'otherwise'), (b'{"room":false}', 'otherwise'), (b'{"room":"7"}', 'when')):
            assert ask('/suppressed', body) == (200, want), body
        assert ask('/value', b'{"a":{"b":null}}') == (200, '<>')
        assert ask('/value', b'{"a":{}}')[0] == 500
        assert ask('/value', b'{"a":{"b":12345678901234567890}}') == (200, '<12345678901234567890>')
        for body in (b'', None, b'  '):
            assert ask('/value', body)[0] == 500
        until(lambda: 'Cannot read body as supported JSON value' in b.log(), 10, 'the reason')


if __name__ == '__main__':
    main(globals())
