# Programs and refusals as text: x.yaml gives x.ok or x.err.
check_PROGRAMS += tests/config/config_dump
TESTS += tests/config/run.sh

update-golden: tests/config/config_dump
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/config/run.sh --update
.PHONY: update-golden
