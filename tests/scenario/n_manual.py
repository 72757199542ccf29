#!/usr/bin/env python3
"""The manual pages: they are clean mdoc, and say what the tables in the code say."""
import os
import re
import shutil
import subprocess
import sys
sys.path.insert(0, os.path.join(os.environ.get('HINNY_SRCDIR', '.'), 'tests', 'lib'))
from broker import SRC, Skip, hinny, main

MAN = os.path.join(SRC, 'man')
PAGES = sorted(n for n in os.listdir(MAN) if re.search(r'\.[1-8]$', n))


def read(*path):
    with open(os.path.join(SRC, *path), encoding='utf-8') as f:
        return f.read()


def plain(text):
    """Words of mdoc without its marks."""
    return ' '.join(re.sub(r'(?m)^\.\w+|\\e|\\&|\\\(dq|"', lambda m: '\\' if m.group() == '\\e' else ' ', text).split())


def rows(name):
    """(key, default, help) of SETTING rows."""
    out = []
    for line in read('core', 'config', name).splitlines():
        if line.startswith('SETTING('):
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"|\b(NULL)\b', line)
            key = texts[0][0]
            default = re.match(r'SETTING\("[^"]*", \w+, [^,]+, (NULL|"(?:[^"\\]|\\.)*")', line).group(1)
            out.append((key, None if default == 'NULL' else default.strip('"'), texts[-1][0].replace('\\"', '"')))
    assert len(out) > 3, name
    return out


def items(page):
    """.It Ic name -> the text up to the next item."""
    out = {}
    for part in re.split(r'(?m)^\.It Ic ', page)[1:]:
        name, _, text = part.partition('\n')
        assert name not in out, '%s is there twice' % name
        out[name] = re.split(r'(?m)^\.El|^\.S[sh]', text)[0]
    return out


def test_pages_are_clean():
    if shutil.which('mandoc') is None:
        raise Skip('no mandoc')
    for page in PAGES:
        out = subprocess.run(['mandoc', '-T', 'lint', page], cwd=MAN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        # Pages that are not installed yet cannot be found.
        wrong = [x for x in out.splitlines() if 'referenced manual not found' not in x]
        assert not wrong, '\n'.join(wrong)


def test_table_of_the_dsl():
    """docs/dsl.md is what the descriptors say. To make it anew: hinny doc --table > docs/dsl.md"""
    status, out, err = hinny('doc', '--table')
    assert status == 0 and not err
    there, printed = read('docs', 'dsl.md').splitlines(), out.splitlines()
    for n, (a, b) in enumerate(zip(there + [''] * len(printed), printed)):
        assert a == b, 'docs/dsl.md:%d: "%s", where hinny doc --table has "%s"' % (n + 1, a, b)
    assert len(there) == len(printed)


def test_pages_are_installed():
    names = read('man', 'local.mk')
    for page in PAGES:
        assert 'man/' + page in names, page


def test_every_key_is_documented():
    wanted = {key: (default, text) for key, default, text in rows('settings.def') + rows('settings_workers.def')}
    page = items(read('man', 'hinny.yaml.5'))
    assert set(page) - {'properties'} == set(wanted), set(page) ^ set(wanted)
    for key, (default, text) in wanted.items():
        said = plain(page[key])
        assert plain(text).lower() in said.lower(), '%s: the page says %r, the table %r' % (key, said, text)
        assert ('Default: %s.' % default if default is not None else 'No default.') in said, (key, default, said)


def test_every_command_is_documented():
    page = read('man', 'hinny.1')
    documented = re.findall(r'(?m)^\.It Cm (\S+)', page)
    listed = re.findall(r'(?m)^  ([a-z-]+) ', hinny('help', check=True)[1])
    assert documented and sorted(documented) == sorted(listed), (documented, listed)
    for command in listed:
        head = re.search(r'(?m)^\.It Cm %s(?: .*)?$' % re.escape(command), page).group()
        body = page[page.index(head):].split('\n.It Cm', 1)[0] if '\n.It Cm' in page else ''
        for option in re.findall(r'--([a-z-]+)', hinny(command, '--help', check=True)[1]):
            if option == 'help' or option in ('dir', 'socket') and command != 'run':
                continue  # said once for all
            assert 'Fl -%s' % option in body or option == 'config' and 'Fl c ' in body or ', -%s' % option in body, (command, option)


def test_options_of_hinnyd():
    page = read('man', 'hinnyd.8')
    out = subprocess.run([os.path.join(os.environ.get('HINNY_BUILDDIR', '.'), 'hinnyd'), '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
    options = re.findall(r'--([a-z-]+)', out)
    assert len(set(options)) >= 5
    for option in options:
        assert re.search(r'(?m)^\.It Fl (\w , )?-%s\b' % option, page), option


if __name__ == '__main__':
    main(globals())
