#!/usr/bin/env python3
"""Simple and the language component in a running broker: what needs more than an expression and a message."""
import os
import sys
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, free_port, main

ROUTES = '''
- from:
    uri: platform-http:/original
    steps:
      - setVariable: {name: x, simple: "${header.k}"}
      - setBody: {constant: other}
      - to: "language:simple:${originalBody} then ${body} ${variable.x}"
- from:
    uri: platform-http:/forward
    steps:
      - removeHeaders: {pattern: CamelHttp*}
      - to: "http://127.0.0.1:@PORT@/original"
      - setBody: {simple: "${originalBody} gave ${body}"}
- from:
    uri: platform-http:/step
    steps:
      - step:
          id: inner
          steps:
            - setHeader: {name: s, simple: "${stepId}"}
      - setBody: {simple: "${header.s} ${exchange.pattern} ${routeId}"}
- from:
    uri: platform-http:/history
    steps:
      - setBody: {simple: "${messageHistory}"}
- from:
    uri: platform-http:/load
    steps:
      - setBody: {simple: "<${load(text.txt)}>"}
- from:
    uri: platform-http:/list
    steps:
      - setVariable: {name: l, simple: "${list(a,b)}"}
      - script: {simple: "${listAdd(${variable.l},c)}"}
      - setBody: {simple: "${variable.l}"}
      - convertBodyTo: String
- from:
    uri: platform-http:/csimple
    steps:
      - setBody: {csimple: "${body} ${hash(abc,MD5)}"}
'''
TEXT = {'Content-Type': 'text/plain'}


def test_all():
    port = free_port()
    with Broker({'r.yaml': ROUTES.replace('@PORT@', str(port)), 'text.txt': 'from a file'}, port=port) as b:
        def ask(path, body=b'first', **headers):
            status, _, text = b.request('POST', path, body, dict(TEXT, **headers))
            assert status == 200, (path, status, text)
            return text.decode()
        assert ask('/original', k='v') == 'first then other v'
        assert ask('/forward', k='v') == 'first gave first then other v'
        assert ask('/step') == 'inner InOut route3'
        history = ask('/history')
        assert 'Message History' in history and 'from[platform-http:/history]' in history and 'Body: first]' in history, history
        assert ask('/load') == '<from a file>'
        assert ask('/list') == '[a, b, c]'
        assert ask('/csimple') == 'first 900150983cd24fb0d6963f7d28e17f72'
        big = b'x' * 3000000
        assert ask('/original', big, k='v') == big.decode() + ' then other v'


if __name__ == '__main__':
    main(globals())
