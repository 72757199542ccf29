# Benchmarks: made by `make bench`, run by hand (bench/README.md).
EXTRA_PROGRAMS = $(bench_programs)
bench_programs = bench/hop
bench_hop_SOURCES = bench/hop.c
bench_hop_LDADD = $(worker_libs)
bench_programs += bench/steps_bench
bench_steps_bench_SOURCES = bench/steps_bench.c
bench_steps_bench_LDADD = $(hinny_libs)
if BUILD_XFORM
bench_programs += bench/xform_bench
endif
bench_xform_bench_SOURCES = bench/xform_bench.c
bench_xform_bench_LDADD = $(xform_libs) $(hinny_libs)
CLEANFILES += $(bench_programs)

bench: $(bench_programs)
.PHONY: bench
