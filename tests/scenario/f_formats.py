#!/usr/bin/env python3
"""Data formats through a running broker: what comes in as CSV goes out as JSON, and what people reported of other products."""
import json
import os
import sys
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import Broker, main

ROUTES = '''
- from:
    uri: platform-http:/csv
    steps:
      - unmarshal: {csv: {useMaps: true}}
      - marshal: {json: {}}
- from:
    uri: platform-http:/json
    steps:
      - unmarshal: {json: {}}
      - marshal: {json: {}}
- from:
    uri: platform-http:/base64
    steps:
      - marshal: {base64: {}}
      - unmarshal: {base64: {}}
'''


def test_csv_with_a_byte_order_mark():
    """B19: redpanda-data/connect#3157."""
    with Broker({'r.yaml': ROUTES}) as b:
        for mark in (b'', b'\xef\xbb\xbf'):
            for first in (b'id', b'"id"'):
                body = mark + first + b',name\r\n1,\xef\xbb\xbfx\r\n'
                status, _, got = b.request('POST', '/csv', body, {'Content-Type': 'text/csv'})
                assert (status, json.loads(got)) == (200, [{'id': '1', 'name': '\ufeffx'}]), got


def test_large_bodies():
    rows = [{'id': i, 'name': 'row %d \u00e9' % i, 'tags': ['a', 'b', None]} for i in range(20000)]
    text = json.dumps(rows).encode()
    noise = os.urandom(300000)
    with Broker({'r.yaml': ROUTES}) as b:
        status, _, got = b.request('POST', '/json', text, {'Content-Type': 'application/json'})
        assert status == 200 and json.loads(got) == rows
        status, _, got = b.request('POST', '/base64', noise, {'Content-Type': 'application/octet-stream'})
        assert status == 200 and got == noise


if __name__ == '__main__':
    main(globals())
