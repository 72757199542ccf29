#!/bin/sh
# Makes configure and the files that it needs. Only for a tree from git; a release has them.
set -eu
cd "$(dirname "$0")"
exec autoreconf -fi
