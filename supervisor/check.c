/* One worker of each kind, all at once, each with a control socket; a loop until every one has
 * answered or died. */
#include "supervisor/check.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/ipc/channel.h"
#include "core/loop/loop.h"
#include "core/model/descriptor.h"
#include "supervisor/rundir.h"
#include "supervisor/spawn.h"
#include "workers/fds.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS_MAX = 64, FDS = WORKER_FD_LISTEN - WORKER_FD_CONTROL };

struct check;

struct owner {
	struct check *check;
	const struct kind_desc *kind;
	struct channel *channel;
	pid_t pid;
	bool answered, refused;
};

struct check {
	struct loop lp;
	struct rundir run;
	FILE *to;
	int bundle_fd, dir_fd;
	struct loop_timer deadline;
	struct owner owners[KINDS_MAX];
	size_t n;
	bool ok;
	struct check_question *question; /* hinny eval; NULL: hinny check */
};

static void
settle(struct check *ck)
{
	for (size_t i = 0; i < ck->n; i++) {
		if (!ck->owners[i].answered)
			return;
	}
	loop_stop(&ck->lp);
}

/* The owner can evaluate: asks it. */
static void
ask(struct owner *o)
{
	struct check_question *q = o->check->question;
	struct control_message m = { .type = FRAME_EVALUATE_ONE, .fd = -1 };
	struct access all = { .flags = ACCESS_ALL & ~(unsigned)ACCESS_BODY };
	struct hinny_error err;
	struct buf message, body;

	buf_init(&message, FRAME_MAX / 4);
	buf_init(&body, FRAME_MAX / 2);
	struct frame_writer w = { .out = &message }, b = { .out = &body };
	frame_put_message(&w, q->ex, &all, false);
	frame_put_value(&b, &q->ex->body);
	m.evaluate_one = (struct control_evaluate_one){ .slot = q->e->slot,
		.message = { message.p, message.n },
		.body = { body.p, body.n } };
	if (w.rc != HINNY_OK || b.rc != HINNY_OK)
		(void)hinny_error_set(&err, HINNY_ELIMIT, "the message is too large");
	else if (channel_send(o->channel, &m, &err) == HINNY_OK)
		err.rc = HINNY_OK;
	if (err.rc != HINNY_OK) {
		(void)fprintf(o->check->to, "hinny: %s\n", err.text);
		o->answered = true;
		o->check->ok = false;
		settle(o->check);
	}
	buf_fini(&message);
	buf_fini(&body);
}

static void
take_value(struct owner *o, const struct control_value *v)
{
	struct check_question *q = o->check->question;
	struct arena *a = &q->ex->arena;
	struct str bytes = arena_str(a, v->value);
	struct frame_reader r = { .p = bytes.p, .end = bytes.p + bytes.n };

	q->exception = v->exception.n > 0 ? arena_strndup(a, v->exception.p, v->exception.n) : NULL;
	q->text = arena_strndup(a, v->text.p != NULL ? v->text.p : "", v->text.n);
	if (q->exception == NULL)
		q->value = frame_get_value(&r, a, NULL);
	o->answered = true;
	settle(o->check);
}

static void
on_message(void *owner, const struct control_message *m)
{
	struct owner *o = owner;

	if (m->type == FRAME_REFUSED) {
		(void)fprintf(o->check->to, "%.*s%s", STR_FMT(m->refused.text),
		    str_ends(m->refused.text, "\n") ? "" : "\n");
		o->refused = true;
		o->check->ok = false;
	}
	if (m->type == FRAME_READY && o->check->question != NULL) {
		ask(o);
	} else if (m->type == FRAME_VALUE && o->check->question != NULL) {
		take_value(o, &m->value);
	} else if (m->type == FRAME_READY || m->type == FRAME_REFUSED) {
		o->answered = true;
		settle(o->check);
	}
}

static void
on_closed(void *owner, const struct hinny_error *err)
{
	struct owner *o = owner;

	if (o->answered)
		return;
	(void)fprintf(o->check->to, "hinny: %s ended without an answer: %s\n", o->kind->executable,
	    err->text);
	o->answered = true;
	o->check->ok = false;
	settle(o->check);
}

static const struct channel_ops channel_ops = { on_message, on_closed };

static void
on_deadline(struct loop_timer *t)
{
	struct check *ck = CONTAINER_OF(t, struct check, deadline);

	for (size_t i = 0; i < ck->n; i++) {
		if (!ck->owners[i].answered)
			(void)fprintf(
			    ck->to, "hinny: %s does not answer\n", ck->owners[i].kind->executable);
	}
	ck->ok = false;
	loop_stop(&ck->lp);
}

static enum hinny_rc
start(struct check *ck, const struct kind_desc *kind, const char *path, struct hinny_error *err)
{
	const char *argv[] = { kind->executable, "--index", "0", "--incarnation", "1",
		"--generation", "1", "--listeners", "0",
		ck->question != NULL ? "--evaluate" : "--check", NULL };
	struct owner *o = &ck->owners[ck->n];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return hinny_error_errno(
		    err, errno, "cannot make a control socket for %s", kind->executable);
	int fds[FDS] = { pair[1], ck->bundle_fd, -1, ck->dir_fd, ck->run.fd };
	struct spawn_options opt = {
		.path = path,
		.argv = (char *const *)(uintptr_t)
		    argv, /* execve wants it without const and writes nothing */
		.envp = environ,
		.fds = fds,
		.fds_n = FDS,
	};
	*o = (struct owner){ .check = ck, .kind = kind };
	enum hinny_rc rc = spawn_process(&opt, &o->pid, err);
	(void)close(pair[1]);
	if (rc != HINNY_OK) {
		(void)close(pair[0]);
		return rc;
	}
	ck->n++;
	o->channel = channel_new(&ck->lp, pair[0], CONTROL_SUPERVISOR, &channel_ops, o, err);
	return o->channel != NULL ? HINNY_OK : err->rc;
}

static enum hinny_rc
start_kind(struct check *ck, const struct kind_desc *kind, struct hinny_error *err)
{
	char *path = spawn_path(kind->executable);
	enum hinny_rc rc = HINNY_OK;

	if (access(path, X_OK) == -1 && ck->question != NULL)
		rc = hinny_error_set(err, HINNY_ENOENT, "%s is not installed (\"%s\")",
		    kind->executable, path);
	else if (access(path, X_OK) == -1)
		(void)fprintf(ck->to,
		    "hinny: note: %s is not installed (\"%s\"); what only it can compile is not "
		    "checked\n",
		    kind->executable, path);
	else
		rc = start(ck, kind, path, err);
	free(path);
	return rc;
}

static enum hinny_rc
prepare(struct check *ck, struct bundle *b, const struct program *p, struct hinny_error *err)
{
	struct diagnostics ds;

	if (rundir_open(&ck->run, NULL, err) != HINNY_OK)
		return err->rc;
	ck->dir_fd = rundir_make_generation(&ck->run, 1, err);
	if (ck->dir_fd == -1)
		return err->rc;
	diagnostics_init(&ds);
	enum hinny_rc rc = bundle_copy_files(p, ck->dir_fd, &ds);
	if (ds.n > 0)
		diagnostics_print(&ds, ck->to);
	diagnostics_fini(&ds);
	if (rc != HINNY_OK)
		return hinny_error_set(err, rc, "cannot copy the files that the routes name");
	return bundle_save(b, &ck->bundle_fd, err);
}

static void
finish(struct check *ck)
{
	for (size_t i = 0; i < ck->n; i++) {
		channel_free(ck->owners[i].channel);
		(void)kill(ck->owners[i].pid, SIGKILL); /* it has answered, or will not */
		(void)waitpid(ck->owners[i].pid, NULL, 0);
	}
	loop_timer_close(&ck->deadline, NULL);
	if (ck->bundle_fd != -1)
		(void)close(ck->bundle_fd);
	if (ck->dir_fd != -1)
		(void)close(ck->dir_fd);
	rundir_close(&ck->run);
	loop_fini(&ck->lp);
}

/* `kinds`: a bit for each kind of worker that is asked. */
static bool
run(struct bundle *b, const struct program *p, uint64_t kinds, struct check_question *q, FILE *to)
{
	struct check *ck = MEM_NEW(struct check);
	struct hinny_error err;
	enum hinny_rc rc;

	ck->to = to;
	ck->ok = true;
	ck->question = q;
	ck->bundle_fd = ck->dir_fd = -1;
	ck->run.fd = ck->run.lock = -1;
	rc = loop_init(&ck->lp, &err);
	if (rc == HINNY_OK) {
		loop_timer_init(&ck->lp, &ck->deadline, on_deadline);
		rc = prepare(ck, b, p, &err);
	}
	for (int k = 0; rc == HINNY_OK && k < kind_count() && k < KINDS_MAX; k++) {
		if ((kinds >> k & 1) != 0)
			rc = start_kind(ck, kind_at(k), &err);
	}
	if (rc == HINNY_OK && ck->n > 0) {
		loop_timer_start(&ck->deadline, p->settings->supervisor.start_timeout_ms, 0);
		loop_run(&ck->lp);
	}
	if (rc != HINNY_OK)
		(void)fprintf(to, "hinny: %s\n", err.text);
	bool ok = ck->ok && rc == HINNY_OK;
	finish(ck);
	free(ck);
	return ok;
}

bool
check_owners(struct bundle *b, const struct program *p, FILE *to)
{
	return run(b, p, p->kinds, NULL, to);
}

bool
check_evaluate(struct bundle *b, const struct program *p, struct check_question *q, FILE *to)
{
	return run(b, p, (uint64_t)1 << kind_index(str_of(q->e->owner)), q, to);
}
