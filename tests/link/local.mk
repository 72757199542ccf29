# What may include and be linked with what.
TESTS += \
	tests/link/headers.py \
	tests/link/includes.py \
	tests/link/needed.py
