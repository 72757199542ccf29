# What tests share: the tables of unit tests, and a main for fuzz targets.
check_LIBRARIES += tests/lib/libfuzz.a
tests_lib_libfuzz_a_SOURCES = \
	tests/lib/fuzz_main.c

if BUILD_UNIT
check_LIBRARIES += tests/lib/libtest.a
tests_lib_libtest_a_SOURCES = \
	tests/lib/aggregate_case.c \
	tests/lib/engine_case.c \
	tests/lib/engine_fake.c \
	tests/lib/program_build.c \
	tests/lib/unit.c \
	tests/lib/value_case.c
unit_lib = tests/lib/libtest.a
endif

# The load of scenario tests: every answer byte-checked.
check_PROGRAMS += tests/lib/load
tests_lib_load_SOURCES = tests/lib/load.c
tests_lib_load_LDADD =

# A worker that dies, hangs, refuses … as a test wants it: the supervisor under test.
check_PROGRAMS += tests/lib/fake_worker
tests_lib_fake_worker_SOURCES = tests/lib/fake_worker.c
tests_lib_fake_worker_LDADD = $(hinny_libs)

# What tests ask of a Kafka broker beside Hinny; the broker itself is scripts/kafka's.
if BUILD_KAFKA
check_PROGRAMS += tests/lib/kafka_tool
tests_lib_kafka_tool_SOURCES = tests/lib/kafka_tool.c
tests_lib_kafka_tool_LDADD = $(RDKAFKA_LIBS)
endif

# The public compliance suite of RFC 9535, which is not part of the project (tests/scenario/soak_jsonpath.py).
check_PROGRAMS += tests/lib/jsonpath_suite
tests_lib_jsonpath_suite_SOURCES = tests/lib/jsonpath_suite.c
tests_lib_jsonpath_suite_LDADD = $(hinny_libs)
