# Benchmarks: made by `make bench`, run by hand (bench/README.md).
EXTRA_PROGRAMS = $(bench_programs)
bench_programs = bench/hop
bench_hop_SOURCES = bench/hop.c
bench_hop_LDADD = $(worker_libs)
CLEANFILES += $(bench_programs)

bench: $(bench_programs)
.PHONY: bench
