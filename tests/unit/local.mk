# One program a file under test: add its name to the list, its source is NAME.c. It is linked with the objects that it uses (LDADD in
# Makefile.am). One that tests a part of a worker says what it needs instead:
#   tests_unit_test_x_LDADD = $(unit_lib) $(http_libs) $(worker_libs) $(CMOCKA_LIBS)
unit_tests = \
	tests/unit/test_aggregate \
	tests/unit/test_aggregate_bounds \
	tests/unit/test_aggregate_handover \
	tests/unit/test_arena \
	tests/unit/test_blob \
	tests/unit/test_buf \
	tests/unit/test_bundle \
	tests/unit/test_circuit_breaker \
	tests/unit/test_claim_check \
	tests/unit/test_compile \
	tests/unit/test_control \
	tests/unit/test_cron \
	tests/unit/test_digest \
	tests/unit/test_do_try \
	tests/unit/test_engine \
	tests/unit/test_error \
	tests/unit/test_errors \
	tests/unit/test_exception \
	tests/unit/test_exchange \
	tests/unit/test_fan_out \
	tests/unit/test_file \
	tests/unit/test_formats \
	tests/unit/test_frame \
	tests/unit/test_frame_message \
	tests/unit/test_hash \
	tests/unit/test_headers \
	tests/unit/test_idempotent \
	tests/unit/test_ipc \
	tests/unit/test_json \
	tests/unit/test_jsonpath \
	tests/unit/test_languages \
	tests/unit/test_list \
	tests/unit/test_load_balance \
	tests/unit/test_log \
	tests/unit/test_log_text \
	tests/unit/test_loop \
	tests/unit/test_operation \
	tests/unit/test_order \
	tests/unit/test_page \
	tests/unit/test_placeholder \
	tests/unit/test_process_table \
	tests/unit/test_redelivery \
	tests/unit/test_resequence \
	tests/unit/test_routing \
	tests/unit/test_scopes \
	tests/unit/test_set_steps \
	tests/unit/test_settings \
	tests/unit/test_simple \
	tests/unit/test_simple_expression \
	tests/unit/test_state \
	tests/unit/test_steps \
	tests/unit/test_str \
	tests/unit/test_stream \
	tests/unit/test_throttle \
	tests/unit/test_units \
	tests/unit/test_value \
	tests/unit/test_value_compare \
	tests/unit/test_value_convert \
	tests/unit/test_variables \
	tests/unit/test_yaml

if BUILD_HTTP
unit_tests += \
	tests/unit/test_http_client \
	tests/unit/test_http_head \
	tests/unit/test_http_parts \
	tests/unit/test_http_server
endif

if BUILD_KAFKA
unit_tests += \
	tests/unit/test_kafka_parts \
	tests/unit/test_kafka_record \
	tests/unit/test_kafka_send \
	tests/unit/test_kafka_window
endif
tests_unit_test_kafka_record_LDADD = $(unit_lib) $(kafka_libs) $(worker_libs) $(CMOCKA_LIBS)
# It has an engine of its own, which stands before the real one.
tests_unit_test_kafka_send_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,muldefs
tests_unit_test_kafka_send_LDADD = $(unit_lib) $(kafka_libs) $(hinny_libs) $(CMOCKA_LIBS)

if BUILD_XFORM
unit_tests += \
	tests/unit/test_jail \
	tests/unit/test_validator \
	tests/unit/test_wire \
	tests/unit/test_xpath \
	tests/unit/test_xslt \
	tests/unit/test_xtokenize
endif

if BUILD_JQ
unit_tests += \
	tests/unit/test_jq
endif

if BUILD_UNIT
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
else
TESTS += tests/unit/no_cmocka.sh
endif
tests_unit_test_file_LDADD = $(unit_lib) libfile.a $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_kafka_parts_LDADD = $(unit_lib) $(kafka_libs) $(worker_libs) $(RDKAFKA_LIBS) $(CMOCKA_LIBS)
tests_unit_test_kafka_window_LDADD = $(unit_lib) $(kafka_libs) $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_ipc_LDADD = $(unit_lib) $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_wire_LDADD = $(unit_lib) $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_operation_LDADD = $(unit_lib) $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_log_text_LDADD = $(unit_lib) $(worker_libs) $(CMOCKA_LIBS)
tests_unit_test_process_table_LDADD = $(unit_lib) libsupervisor.a $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_jail_LDADD = $(unit_lib) $(xform_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_validator_LDADD = $(unit_lib) $(xform_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_xpath_LDADD = $(unit_lib) $(xform_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_xslt_LDADD = $(unit_lib) $(xform_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_xtokenize_LDADD = $(unit_lib) $(xform_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_http_client_LDADD = $(unit_lib) $(http_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_http_head_LDADD = $(unit_lib) $(http_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_http_parts_LDADD = $(unit_lib) $(http_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_http_server_LDADD = $(unit_lib) $(http_libs) $(hinny_libs) $(CMOCKA_LIBS)
tests_unit_test_jq_LDADD = $(unit_lib) $(jq_libs) $(hinny_libs) $(CMOCKA_LIBS)
lang_case = tests/lib/compile_fake.c tests/lib/lang_case.c
tests_unit_test_jq_SOURCES = tests/unit/test_jq.c $(lang_case)
tests_unit_test_jsonpath_SOURCES = tests/unit/test_jsonpath.c $(lang_case)
tests_unit_test_languages_SOURCES = tests/unit/test_languages.c $(lang_case)
simple_case = tests/lib/simple_case.c $(lang_case)
tests_unit_test_simple_SOURCES = tests/unit/test_simple.c $(simple_case)
tests_unit_test_simple_expression_SOURCES = tests/unit/test_simple_expression.c $(simple_case)
