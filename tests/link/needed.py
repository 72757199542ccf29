"""Each executable names exactly the libraries of needed.list. Under a sanitizer, which brings its own, there is nothing to see."""
import os
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(os.environ['HINNY_SRCDIR'], 'tests/link/needed.list')


def wanted():
    rows = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith('#'):
            name, *libraries = line.split()
            rows[name] = libraries
    return rows


def needed(path):
    """The NEEDED entries without their versions: "libuv.so.1" is "libuv"."""
    out = subprocess.run([os.environ['READELF'], '-d', path], check=True, capture_output=True, text=True).stdout
    return {re.sub(r'\.so(\.\d+)*$', '', m) for m in re.findall(r'\(NEEDED\).*\[(.*)\]', out)}


def differences(libraries, row):
    left = set(libraries)
    for alternatives in row:
        found = left & set(alternatives.split('|'))
        if not found:
            yield f'does not need {alternatives}, which the list has'
        left -= found
    for library in sorted(left):
        yield f'needs {library}, which the list does not have'


def main():
    if os.environ['HINNY_SANITIZED'].strip():
        print('a sanitizer build')
        return 77
    rows = wanted()
    wrong = []
    for name in os.environ['HINNY_EXECUTABLES'].split():
        libraries = needed(pathlib.Path(os.environ['HINNY_BUILDDIR'], name))
        print(name, *sorted(libraries))
        wrong += [f'{name} {text}' for text in differences(libraries, rows.get(name, []))]
    print(*wrong, sep='\n')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
