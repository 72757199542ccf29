# Fuzz targets: one file each with LLVMFuzzerTestOneInput, its name in this list, its corpus in corpus/NAME. They are built plain and
# run over the corpus by `make check`; with --enable-fuzz (clang) for libFuzzer: tests/fuzz/fuzz_NAME tests/fuzz/corpus/NAME.
# One that needs more than LDADD says so: `tests_fuzz_fuzz_x_LDADD = $(FUZZ_LIBS) $(http_libs) $(hinny_libs)`.
fuzz_targets = \
	tests/fuzz/fuzz_bundle \
	tests/fuzz/fuzz_control \
	tests/fuzz/fuzz_frame \
	tests/fuzz/fuzz_json \
	tests/fuzz/fuzz_properties \
	tests/fuzz/fuzz_scan \
	tests/fuzz/fuzz_str \
	tests/fuzz/fuzz_units \
	tests/fuzz/fuzz_value \
	tests/fuzz/fuzz_yaml

if BUILD_XFORM
fuzz_targets += \
	tests/fuzz/fuzz_xml \
	tests/fuzz/fuzz_xpath
tests_fuzz_fuzz_xml_LDADD = $(FUZZ_LIBS) $(xform_libs) $(hinny_libs)
tests_fuzz_fuzz_xpath_LDADD = $(FUZZ_LIBS) $(xform_libs) $(hinny_libs)
endif

# Its programs are made by what the unit tests share.
if BUILD_UNIT
fuzz_targets += \
	tests/fuzz/fuzz_engine
endif

check_PROGRAMS += $(fuzz_targets)
if !BUILD_FUZZ
TESTS += $(fuzz_targets)
endif
