# Behaviour of the whole, one readable python3 file each: configuration, peers, expectations. The first letter is the kind; regressions
# carry the issue's number. Environment: see AM_TESTS_ENVIRONMENT in Makefile.am. Status 0: passed, 77: skipped.
scenario_tests = \
	tests/scenario/a_command.py \
	tests/scenario/a_test.py \
	tests/scenario/c_cases.py \
	tests/scenario/c_http_cases.py \
	tests/scenario/d_systemd.py \
	tests/scenario/e_examples.py \
	tests/scenario/e_limits.py \
	tests/scenario/e_patterns.py \
	tests/scenario/f_file.py \
	tests/scenario/f_formats.py \
	tests/scenario/g_aggregate.py \
	tests/scenario/h_http.py \
	tests/scenario/i_repository.py \
	tests/scenario/k_kill.py \
	tests/scenario/l_jq.py \
	tests/scenario/l_simple.py \
	tests/scenario/m_memory.py \
	tests/scenario/n_manual.py \
	tests/scenario/p_admin.py \
	tests/scenario/p_chaos.py \
	tests/scenario/p_check.py \
	tests/scenario/p_handover.py \
	tests/scenario/p_restart.py \
	tests/scenario/p_trace.py \
	tests/scenario/q_seda.py \
	tests/scenario/r_reload.py \
	tests/scenario/r_state.py \
	tests/scenario/s_flows.py \
	tests/scenario/t_templates.py \
	tests/scenario/y_kafka_consumer.py \
	tests/scenario/y_kafka_count.py \
	tests/scenario/y_kafka_groups.py \
	tests/scenario/y_kafka_options.py \
	tests/scenario/y_kafka_producer.py \
	tests/scenario/y_kafka_security.py \
	tests/scenario/y_kafka_tool.py

TESTS += $(scenario_tests)

# Those that are too long for `make check`, or are longer and stricter there (HINNY_SOAK=1): run by `make soak`.
soak_tests += \
	tests/scenario/soak_flows.py \
	tests/scenario/y_kafka_count.py \
	tests/scenario/soak_jsonpath.py \
	tests/scenario/soak_kafka.py \
	tests/scenario/s_flows.py \
	tests/scenario/r_reload.py \
	tests/scenario/r_state.py \
	tests/scenario/k_kill.py \
	tests/scenario/l_jq.py \
	tests/scenario/m_memory.py \
	tests/scenario/c_http_cases.py \
	tests/scenario/p_chaos.py
