"""Each header compiles alone."""
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(os.environ['HINNY_SRCDIR'])
FOLDERS = ('core', 'transports', 'transformers', 'workers', 'supervisor', 'tests/lib')
COMPILE = shlex.split(os.environ['HINNY_CC']) + ['-I', str(ROOT), '-fsyntax-only', '-x', 'c', '/dev/null', '-include']

# What is not built may lack its library.
SKIPPED = {'http': 'transports/http/', 'kafka': 'transports/kafka/', 'xform': 'transformers/'}


def is_built(name):
    parts = os.environ['HINNY_PARTS'].split()
    return not any(name.startswith(folder) for part, folder in SKIPPED.items() if part not in parts)


def compiles(name):
    run = subprocess.run(COMPILE + [name], cwd=os.environ['HINNY_BUILDDIR'], stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        print(f'{name} does not compile alone:\n{run.stderr}')
    return run.returncode == 0


def main():
    headers = sorted(p.relative_to(ROOT).as_posix() for folder in FOLDERS for p in (ROOT / folder).rglob('*.h'))
    headers = [name for name in headers if is_built(name)]
    failed = [name for name in headers if not compiles(name)]
    print(f'{len(headers)} headers, {len(failed)} failed')
    return 1 if failed or not headers else 0


if __name__ == '__main__':
    sys.exit(main())
