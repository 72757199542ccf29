#!/usr/bin/env python3
"""The three proxy flows: 20, 40, 80 and 160 kept-alive clients with orders of 500 B, 1, 5 and 10 KB; every answer is byte-checked and none fails."""
import os
import sys
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
import flows
from broker import main, setting

REQUESTS = setting('REQUESTS', 500, 20000)  # of one load


def run(clients):
    with flows.broker() as b:
        for size in flows.SIZES:
            for flow in flows.FLOWS:
                r = flows.load(b, flow, size, connections=clients, requests=max(REQUESTS, 3 * clients)).all_ok(retried=0)
                print('%-12s %-5s %3d clients: %d requests, median %d us' % (flow, size, clients, r['requests'], r['us_p50']))
        status = b.status()
        assert all(kind['deaths'] == 0 for kind in status['kinds'].values()), status


def test_20_clients():
    run(20)


def test_40_clients():
    run(40)


def test_80_clients():
    run(80)


def test_160_clients():
    run(160)


if __name__ == '__main__':
    main(globals())
