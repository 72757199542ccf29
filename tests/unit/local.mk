# One program a file under test: add its name here, its source is NAME.c. It is linked with the objects that it uses (see LDADD in
# Makefile.am); one that tests a worker's part says so: `tests_unit_test_x_LDADD = tests/lib/libtest.a $(worker_libs) $(CMOCKA_LIBS)`.
unit_tests =

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
