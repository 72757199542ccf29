#!/usr/bin/env python3
"""The public compliance suite of RFC 9535, fetched for it (it is not part of the project): what differs is what Jayway gives."""
import os
import re
import subprocess
import sys
import tempfile
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import BUILD, Skip, main

SUITE = 'https://github.com/jsonpath-standard/jsonpath-compliance-test-suite'
MEANT = [
    r'accepted \| basic, (no leading whitespace|no trailing whitespace|name shorthand, (symbol|number)) ',
    r'accepted \| filter, (relative|absolute) non-singular query, .* \| \$\[\?\(',  # with parentheses: Jayway's
    r"differs \| .* \| \$.*\['[a-z]'\s*,\s*'[a-z]'\] \| \[\{",  # several names at the end give one object
]


def test_suite():
    path = os.environ.get('HINNY_JSONPATH_SUITE')  # a cts.json that is there already
    with tempfile.TemporaryDirectory() as folder:
        if not path:
            clone = subprocess.run(['git', 'clone', '-q', '--depth', '1', SUITE, folder + '/suite'], stderr=subprocess.PIPE, timeout=120)
            if clone.returncode != 0:
                raise Skip('the suite cannot be fetched: %s' % clone.stderr.decode('utf-8', 'replace').strip())
            path = folder + '/suite/cts.json'
        p = subprocess.run([os.path.join(BUILD, 'tests', 'lib', 'jsonpath_suite'), path], stdout=subprocess.PIPE, timeout=60, check=True)
    text = p.stdout.decode('utf-8', 'replace')
    passed, differ = re.search(r'(\d+) passed, (\d+) differ$', text.strip()).groups()
    print('%s pass, %s differ' % (passed, differ))
    rest = [c for c in re.split(r'\n(?=accepted \||refused \||differs \||\d+ passed)', text.strip())[:-1]
            if not any(re.match(m, c, re.S) for m in MEANT)]
    assert not rest, '\n'.join(rest)
    assert int(passed) >= 650


if __name__ == '__main__':
    main(globals())
