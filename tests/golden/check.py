#!/usr/bin/env python3
"""Runs the golden vectors: small routes, requests to them, and what a real Apache Camel answered. README.md says how a case is written and where the answers come from."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import broker

try:
    import yaml  # noqa: F401, needed by run.py
except ImportError:
    print('python3-yaml is not installed')
    sys.exit(77)

here = os.path.dirname(os.path.abspath(__file__))
areas = [os.path.join(here, d) for d in sorted(os.listdir(here)) if os.path.isdir(os.path.join(here, d)) and not d.startswith('_')]
slow = broker.SLOW
sys.exit(subprocess.call([sys.executable, os.path.join(here, 'run.py'), '--broker', os.path.join(broker.BUILD, 'hinny') + ' run --no-watch', '-v',
                          '--jobs', os.environ.get('GOLDEN_JOBS', '3'), '--timeout', str(30 * slow), '--request-timeout', str(10 * slow)] + areas,
                         env=broker.env()))
