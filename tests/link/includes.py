"""Includes follow the arrows between folders."""
import os
import sys

script = os.path.join(os.environ['HINNY_SRCDIR'], 'scripts', 'check-includes')
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, script, os.environ['HINNY_SRCDIR']])
