# Stands in for the unit tests where they are not built.
echo "no unit test was run: configure did not find cmocka (see scripts/packages), or has --enable-fuzz" >&2
exit 1
