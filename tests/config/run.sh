#!/bin/sh
# Compares what config_dump says of each tests/config/*.yaml with its .ok (the program) or .err (what is wrong). A first line `# args: …` goes to config_dump.
# `run.sh --update` writes these files anew: `make update-golden`. Names starting with _ are parts of others. Speaks TAP.
set -u
here=${HINNY_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/config
dump=${HINNY_BUILDDIR:-$(pwd)}/tests/config/config_dump
update=no
[ "${1-}" = --update ] && update=yes
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset HINNY_TEST_NONE
HINNY_TEST=from-environment
export HINNY_TEST
n=0
bad=0
cd "$here" || exit 1
for file in *.yaml; do
	case $file in _*) continue ;; esac
	name=${file%.yaml}
	n=$((n + 1))
	args=$(sed -n '1s/^# args: //p' "$file")
	# the arguments have no blanks in them
	# shellcheck disable=SC2086
	"$dump" $args "$file" >"$work/out" 2>"$work/errors"
	rc=$?
	case $rc in
	0) want=$name.ok ;;
	1) want=$name.err ;;
	*) want=/dev/null ;;
	esac
	if [ $update = yes ] && [ $rc -le 1 ] && [ ! -s "$work/errors" ]; then
		rm -f "$name.ok" "$name.err"
		cp "$work/out" "$want"
	fi
	if [ -f "$want" ] && [ ! -s "$work/errors" ] && cmp -s "$work/out" "$want"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name (status $rc)"
		[ -f "$want" ] && diff -u "$want" "$work/out" | sed 's/^/# /'
		sed 's/^/# /' "$work/errors"
		bad=1
	fi
done
# Every example must be valid: its own folder is the working folder.
for folder in ../../conf/examples/*/; do
	ls "$folder"*.yaml >/dev/null 2>&1 || continue
	n=$((n + 1))
	# files of hinny test are no routes
	if (cd "$folder" && find . -maxdepth 1 -name '*.yaml' ! -name '*.test.yaml' -print0 | sort -z |
		xargs -0 "$dump" --properties application.properties --copy) >"$work/out" 2>&1; then
		echo "ok $n - $folder"
	else
		echo "not ok $n - $folder"
		sed 's/^/# /' "$work/out"
		bad=1
	fi
done
echo "1..$n"
exit $bad
