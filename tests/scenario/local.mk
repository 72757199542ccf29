# Behaviour of the whole, one readable python3 file each: configuration, peers, expectations. The first letter is the kind; regressions
# carry the issue's number. Environment: see AM_TESTS_ENVIRONMENT in Makefile.am. Status 0: passed, 77: skipped.
scenario_tests =

TESTS += $(scenario_tests)

# Those that are too long for `make check`: run by `make soak`.
soak_tests +=
