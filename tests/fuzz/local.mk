# Fuzz targets: one file each with LLVMFuzzerTestOneInput, its name in this list, its corpus in corpus/NAME. They are built plain and
# run over the corpus by `make check`; with --enable-fuzz (clang) for libFuzzer: tests/fuzz/fuzz_NAME tests/fuzz/corpus/NAME.
# One that needs more than LDADD says so: `tests_fuzz_fuzz_x_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)`.
fuzz_targets = \
	tests/fuzz/fuzz_bundle \
	tests/fuzz/fuzz_control \
	tests/fuzz/fuzz_cron \
	tests/fuzz/fuzz_csv \
	tests/fuzz/fuzz_frame \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_jsonpath \
	tests/fuzz/fuzz_kafka_jaas \
	tests/fuzz/fuzz_properties \
	tests/fuzz/fuzz_scan \
	tests/fuzz/fuzz_simple \
	tests/fuzz/fuzz_str \
	tests/fuzz/fuzz_tokenize \
	tests/fuzz/fuzz_units \
	tests/fuzz/fuzz_value \
	tests/fuzz/fuzz_yaml

if BUILD_HTTP
fuzz_targets += \
	tests/fuzz/fuzz_http_chunked \
	tests/fuzz/fuzz_http_request \
	tests/fuzz/fuzz_http_response \
	tests/fuzz/fuzz_http_server \
	tests/fuzz/fuzz_http_uri
tests_fuzz_fuzz_http_chunked_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)
tests_fuzz_fuzz_http_request_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)
tests_fuzz_fuzz_http_response_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)
tests_fuzz_fuzz_http_server_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)
tests_fuzz_fuzz_http_uri_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)
endif

if BUILD_XFORM
fuzz_targets += \
	tests/fuzz/fuzz_xml \
	tests/fuzz/fuzz_xpath
tests_fuzz_fuzz_xml_LDADD = $(FUZZ_LIBS) $(xform_libs) $(hinny_libs)
tests_fuzz_fuzz_xpath_LDADD = $(FUZZ_LIBS) $(xform_libs) $(hinny_libs)
endif

if BUILD_JQ
fuzz_targets += \
	tests/fuzz/fuzz_jq
tests_fuzz_fuzz_jq_LDADD = $(FUZZ_LIBS) $(jq_libs) $(hinny_libs)
endif

# Its programs are made by what the unit tests share.
if BUILD_UNIT
fuzz_targets += \
	tests/fuzz/fuzz_aggregate \
	tests/fuzz/fuzz_engine \
	tests/fuzz/fuzz_state
endif

check_PROGRAMS += $(fuzz_targets)
if !BUILD_FUZZ
TESTS += $(fuzz_targets)
endif
tests_fuzz_fuzz_jq_SOURCES = tests/fuzz/fuzz_jq.c $(lang_case)
tests_fuzz_fuzz_jsonpath_SOURCES = tests/fuzz/fuzz_jsonpath.c $(lang_case)
tests_fuzz_fuzz_simple_SOURCES = tests/fuzz/fuzz_simple.c $(lang_case)
tests_fuzz_fuzz_tokenize_SOURCES = tests/fuzz/fuzz_tokenize.c $(lang_case)

# The archive is named by configure, so automake does not see that the programs need it.
if !BUILD_FUZZ
$(check_PROGRAMS): tests/lib/libfuzz.a
endif
