/*
 * hinny.yaml as a structure. Its keys, types and defaults are the rows of settings.def and
 * settings_workers.def, which also make `hinny doc hinny.yaml`, hinny.yaml(5) and --set.
 */
#ifndef HINNY_CONFIG_SETTINGS_H
#define HINNY_CONFIG_SETTINGS_H

#include "core/base/log.h"
#include "core/model/descriptor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "0.0.0.0:8080", "[::]:8080", "localhost:8080", "8080", "unix:/run/x.sock", "fd:NAME" (from
 * systemd). */
struct listen_address {
	const char *text;
	const char *host; /* NULL: any */
	const char *unix_path, *fd_name;
	uint16_t port;
};

struct settings_http {
	struct listen_address *listen; /* default 0.0.0.0:8080; hinny run: 127.0.0.1:8080 */
	size_t listen_n;
	struct strings listen_text; /* as written */
	int64_t backlog;
	int64_t request_head_timeout_ms; /* 10 s: from first byte to the end of the head */
	int64_t request_body_timeout_ms; /* 30 s without a byte */
	int64_t idle_timeout_ms;         /* 75 s between requests */
	int64_t write_timeout_ms;        /* 30 s without progress */
	uint64_t max_head;               /* 64 KiB */
	uint64_t max_body;               /* 64 MiB: of bodies that are kept */
	int64_t max_inflight;       /* 10000 exchanges a worker; beyond: 503 with Retry-After */
	int64_t client_connections; /* 200 a host and worker */
	int64_t connect_timeout_ms, response_timeout_ms, client_idle_timeout_ms;
	bool server_header;
};

struct settings_worker {
	int64_t instances; /* 0: default of the kind */
	const char *user, *group;
	uint64_t memory; /* limit, 0: none */
	int64_t files;   /* RLIMIT_NOFILE, 0: the hard limit */
};

struct settings {
	struct strings routes; /* globs */
	struct strings kamelets;
	const char *run_dir;   /* /run/hinny */
	struct settings_http http;
	struct settings_worker *workers; /* by kind_index() */
	struct {
		const char *socket; /* NULL: RUN/admin.sock */
		const char *mode;   /* "0660" */
		const char *group;
	} admin;
	struct {
		enum log_level level;
		enum log_format format;
	} log;
	struct {
		int64_t call_timeout_ms;                   /* 30 s */
		int64_t drain_timeout_ms;                  /* 30 s */
		int64_t start_timeout_ms;                  /* 30 s until READY */
		int64_t ping_interval_ms, ping_timeout_ms; /* hung workers */
		int64_t restart_limit; /* deaths before READY until a kind is degraded */
		int64_t restart_backoff_ms, restart_backoff_max_ms;
	} supervisor;
	struct {
		int64_t time_limit_ms; /* 5 s a transformation */
		int64_t max_depth;     /* 256 */
		uint64_t max_size;     /* 64 MiB */
		uint64_t max_output;
		int64_t max_tries; /* 2 */
		int64_t refuse_ms; /* 60 s for a step and body that killed two */
	} xform;
	struct {
		uint64_t max_memory; /* 256 MiB */
		uint64_t max_output; /* 16 MiB: results travel in one frame */
	} jq;
	struct {
		uint64_t max_bytes; /* 256 MiB an aggregate */
		int64_t max_groups; /* 100,000 an aggregate */
	} aggregate;
	struct pairs properties;
	uint64_t spool_memory;     /* 64 KiB: bodies beyond it lie in a spool file */
	uint64_t call_queue_bytes; /* per peer */
	int64_t call_queue_calls;
	int kafka_headers; /* 0: by Camel's names, 1: by the older ones too */
};

#endif
