# What a real Apache Camel answered to small routes: run by check.py.
TESTS += tests/golden/check.py
