/* Events of workers and what is done about them. */
#include "supervisor/process.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/settings.h"
#include "supervisor/generation.h"
#include "supervisor/handover.h"
#include "supervisor/peers.h"
#include "supervisor/process_priv.h"
#include "supervisor/spawn.h"
#include "supervisor/states.h"
#include "supervisor/supervisor_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_message(void *owner, const struct control_message *m);
static void on_channel_closed(void *owner, const struct hinny_error *err);
static void on_timer(struct loop_timer *t);

static const struct channel_ops channel_ops = { .message = on_message,
	.closed = on_channel_closed };

/* -- the place -- */

struct process *
process_new(struct generation *gen, int kind_index, uint32_t index, struct hinny_error *err)
{
	struct process *pr = MEM_NEW(struct process);

	pr->gen = gen;
	pr->sv = gen->sv;
	pr->kind_index = kind_index;
	pr->kind = kind_at(kind_index);
	pr->index = index;
	(void)snprintf(
	    pr->name, sizeof pr->name, "%s.%" PRIu32, pr->kind->kind, index); /* kinds are short */
	pr->page = page_create(gen->program->routes_n, &pr->page_fd);
	if (pr->page == NULL) {
		(void)hinny_error_errno(err, errno, "cannot make the shared page of %s", pr->name);
		free(pr);
		return NULL;
	}
	loop_timer_init(&pr->sv->lp, &pr->timer, on_timer);
	return pr;
}

void
process_free(struct process *pr)
{
	if (pr == NULL)
		return;
	ASSERT(pr->pid == 0);
	channel_free(pr->channel);
	loop_timer_close(&pr->timer, NULL);
	page_close(pr->page);
	(void)close(pr->page_fd);
	free(pr->inbox);
	loop_free_later(&pr->sv->lp, pr);
}

bool
process_is_up(const struct process *pr)
{
	return pr->channel != NULL && pr->ready.ns != 0;
}

uint64_t
process_served(const struct process *pr)
{
	const struct page *pg = pr->page;
	uint64_t n = PAGE_GET(pg->requests) + PAGE_GET(pg->calls_done) + PAGE_GET(pg->calls_failed);

	for (uint32_t i = 0; i < pr->gen->program->routes_n; i++)
		n += PAGE_GET(pg->routes[i].started);
	return n;
}

/* -- talking to it -- */

void
process_kill(struct process *pr, const char *why)
{
	if (pr->pid == 0)
		return;
	if (pr->killed_for == NULL)
		pr->killed_for = why;
	(void)kill(pr->pid, SIGKILL); /* not reaped yet: it is ours */
}

void
process_send(struct process *pr, const struct control_message *m)
{
	struct hinny_error err;

	if (pr->channel == NULL)
		return;
	if (channel_send(pr->channel, m, &err) == HINNY_ELIMIT)
		process_kill(pr, "it did not read its control socket");
}

void
process_send_type(struct process *pr, enum frame_type type)
{
	struct control_message m = { .type = type, .fd = -1 };

	process_send(pr, &m);
}

void
process_ping(struct process *pr)
{
	struct control_message m = { .type = FRAME_PING, .fd = -1 };

	if (pr->channel == NULL)
		return;
	pr->ping_sent = ++pr->sv->next_sequence;
	if (pr->ping_since.ns == 0)
		pr->ping_since = monotime_now();
	m.ping.sequence = pr->ping_sent;
	process_send(pr, &m);
}

/* -- actions -- */

static void
spawn_now(struct process *pr)
{
	struct hinny_error err;

	pr->ready = pr->ping_since = (struct monotime){ 0 };
	pr->ping_sent = pr->pong_seen = 0;
	pr->exchanges = pr->calls = pr->connections = pr->held = 0;
	pr->said_hello = pr->sources_stopped = pr->saving = false;
	pr->killed_for = NULL;
	pr->late_call = 0;
	pr->served_before = process_served(pr);
	pr->spawned = monotime_now();
	if (process_spawn(pr, &channel_ops, &err) != HINNY_OK) {
		log_error("%s", err.text);
		(void)snprintf(
		    pr->last_words, sizeof pr->last_words, "%s", err.text); /* may be cut */
		process_event(pr, PROCESS_EVENT_EXIT_EARLY);
		return;
	}
	loop_timer_start(&pr->timer, generation_settings(pr->gen)->supervisor.start_timeout_ms, 0);
}

static void
announce(struct process *pr)
{
	struct control_message m = { .type = FRAME_LOG_LEVEL, .fd = -1 };

	loop_timer_stop(&pr->timer);
	pr->ready = monotime_now();
	peers_up(pr);
	if (pr->sv->log_level >= 0) {
		m.log_level.level = (uint8_t)pr->sv->log_level;
		process_send(pr, &m);
	}
	generation_process_ready(pr->gen, pr);
}

static void
drain(struct process *pr)
{
	struct control_message m = { .type = FRAME_DRAIN, .fd = -1 };
	int64_t left = monotime_ms_between(monotime_now(), pr->gen->drain_deadline);

	m.drain.deadline_ms = left > 0 ? (uint64_t)left : 1;
	m.drain.final = pr->gen->final;
	process_send(pr, &m);
}

static void
stop(struct process *pr)
{
	process_send_type(pr, FRAME_STOP);
	loop_timer_start(&pr->timer, PROCESS_STOP_GRACE_MS, 0);
}

/* Nothing is known yet of a program that was never ready, so a further try waits a little longer
 * each time. */
static void
retry(struct process *pr)
{
	const struct settings *s = generation_settings(pr->gen);

	pr->early++;
	if (!generation_process_failed(pr->gen, pr))
		return;
	int64_t ms = process_table_retry(pr->early, s->supervisor.restart_limit,
	    s->supervisor.restart_backoff_ms, s->supervisor.restart_backoff_max_ms);
	if (ms == -1) {
		process_event(pr, PROCESS_EVENT_EXIT_FINAL);
		return;
	}
	if (pr->gen->state == GENERATION_STARTING)
		ms = 0; /* either it comes up or the generation is refused: nobody is served
		           meanwhile */
	if (pr->early > 1)
		handover_lend(pr);
	loop_timer_start(&pr->timer, ms, 0);
}

static void
give_up(struct process *pr)
{
	char deaths[16];

	(void)snprintf(deaths, sizeof deaths, "%u", pr->early); /* fits */
	log_kv(LOG_LEVEL_ERROR, "worker is degraded: it is not started again before a reload",
	    "worker", pr->name, "deaths", deaths, "last", pr->last_words, NULL);
	handover_lend(pr);
	generation_process_gave_up(pr->gen, pr);
}

static void
impossible(struct process *pr, enum process_event event)
{
	log_warning("worker %s: event %d in state %s", pr->name, (int)event,
	    process_table_state_name(pr->state));
	if (process_table_alive(pr->state))
		process_kill(pr, "it broke the control protocol");
}

/* May exchanges that are at home in other workers of its generation still ask it for something? */
static bool
is_needed_by_others(const struct process *pr)
{
	return (pr->kind->flags & KIND_STATELESS) != 0 || states_is_owner(pr);
}

void
process_event(struct process *pr, enum process_event event)
{
	struct process_step step = process_table_step(pr->state, event);

	pr->state = step.next;
	switch ((enum process_action)step.action) {
	case PROCESS_ACTION_IMPOSSIBLE:
		impossible(pr, event);
		return;
	case PROCESS_ACTION_NONE:
	case PROCESS_ACTION_REFUSE: /* on_message does it, it has the text */
	case PROCESS_ACTION_GONE:
		return;
	case PROCESS_ACTION_SPAWN:
		spawn_now(pr);
		return;
	case PROCESS_ACTION_ANNOUNCE:
		announce(pr);
		return;
	case PROCESS_ACTION_START:
		process_send_type(pr, FRAME_START);
		return;
	case PROCESS_ACTION_DRAIN:
		drain(pr);
		return;
	case PROCESS_ACTION_STOP:
		stop(pr);
		return;
	case PROCESS_ACTION_KILL:
		process_kill(pr, "it was not wanted any more");
		return;
	case PROCESS_ACTION_REPLACE:
		pr->early = 0;
		process_event(pr, PROCESS_EVENT_SPAWN);
		return;
	case PROCESS_ACTION_REPLACE_CALLEE:
		if (is_needed_by_others(pr))
			process_event(pr, PROCESS_EVENT_SPAWN);
		return;
	case PROCESS_ACTION_RETRY:
		retry(pr);
		return;
	case PROCESS_ACTION_GIVE_UP:
		give_up(pr);
		return;
	}
	UNREACHABLE();
}

static void
on_timer(struct loop_timer *t)
{
	struct process *pr = CONTAINER_OF(t, struct process, timer);

	bool wanted = pr->gen->state == GENERATION_STARTING ||
	    pr->gen->state == GENERATION_SERVING ||
	    (pr->gen->state == GENERATION_DRAINING && is_needed_by_others(pr));

	switch (pr->state) {
	case PROCESS_BACKOFF:
		process_event(pr, wanted ? PROCESS_EVENT_SPAWN : PROCESS_EVENT_STOP);
		return;
	case PROCESS_STARTING:
		process_kill(pr, "it was not ready in time (supervisor.start_timeout)");
		return;
	case PROCESS_STOPPING:
		process_kill(pr, "it did not stop when it was told to");
		return;
	default:
		return;
	}
}

/* -- what it says -- */

static void
hello(struct process *pr, const struct control_hello *h)
{
	bool same =
	    str_eq(h->build, str_of(control_build)) && h->page_route == sizeof(struct page_route);

	pr->said_hello = same && str_eq(h->kind, str_of(pr->kind->kind)) && h->index == pr->index &&
	    h->incarnation == pr->incarnation;
	if (pr->said_hello)
		return;
	log_error("worker %s is of another build (%.*s, expected %s)", pr->name, STR_FMT(h->build),
	    control_build);
	process_kill(pr, "it is of another build than hinnyd");
}

static void
refused(struct process *pr, const struct control_refused *r)
{
	char *text = mem_strndup(r->text.p, r->text.n);
	bool starting = pr->state == PROCESS_STARTING;

	process_event(pr, PROCESS_EVENT_SAID_REFUSED);
	if (starting)
		generation_process_refused(pr->gen, pr, text);
	free(text);
}

static void
pong(struct process *pr, const struct control_pong *p)
{
	pr->pong_seen = p->sequence;
	pr->ping_since = p->sequence == pr->ping_sent ? (struct monotime){ 0 } : monotime_now();
	pr->exchanges = p->exchanges;
	pr->calls = p->calls;
	pr->connections = p->connections;
	pr->held = p->held;
	generation_process_pong(pr->gen, pr);
}

static void
said_ready(struct process *pr, const struct control_ready *r)
{
	if (!pr->said_hello) {
		process_kill(pr, "it said READY before HELLO");
		return;
	}
	free(pr->inbox);
	pr->inbox = r->inbox.n > 0 ? mem_strndup(r->inbox.p, r->inbox.n) : NULL;
	process_event(pr, PROCESS_EVENT_SAID_READY);
}

static void
on_message(void *owner, const struct control_message *m)
{
	struct process *pr = owner;

	if (pr->killed_for != NULL) { /* what it says while it dies does not count */
		if (m->fd != -1)
			(void)close(m->fd);
		return;
	}
	switch (m->type) {
	case FRAME_HELLO:
		hello(pr, &m->hello);
		return;
	case FRAME_READY:
		said_ready(pr, &m->ready);
		return;
	case FRAME_REFUSED:
		refused(pr, &m->refused);
		return;
	case FRAME_PONG:
		pong(pr, &m->pong);
		return;
	case FRAME_SOURCES_STOPPED:
		pr->sources_stopped = true;
		generation_process_changed(pr->gen, pr);
		return;
	case FRAME_STATE_SAVED:
		states_process_saved(pr, m);
		return;
	case FRAME_POISON:
		peers_poison(pr, m->poison.key);
		return;
	case FRAME_EVENT:
		log_warning("worker %s: %.*s: %.*s", pr->name, STR_FMT(m->event.name),
		    STR_FMT(m->event.text));
		return;
	default: /* answers to questions that nobody asks yet */
		log_debug("worker %s: unexpected frame %s", pr->name, control_name(m->type));
		return;
	}
}

/* It is exiting, or has closed its side: then it is made to. Its status is settled when it has been
 * reaped. */
static void
on_channel_closed(void *owner, const struct hinny_error *err)
{
	struct process *pr = owner;

	if (err->rc == HINNY_EPROTO) {
		log_error("worker %s: %s", pr->name, err->text);
		process_kill(pr, "it broke the control protocol");
	}
	if (pr->pid != 0)
		(void)kill(pr->pid, SIGKILL); /* changes nothing about one that is exiting */
}

/* -- its death -- */

static void
describe_status(const struct process *pr, int status, char *out, size_t size)
{
	const char *why = pr->killed_for;

	if (WIFSIGNALED(status) && why != NULL)
		(void)snprintf(out, size, "killed: %s", why);
	else if (WIFSIGNALED(status))
		(void)snprintf(out, size, "killed by signal %d (%s)", WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == SPAWN_EXIT_NO_EXEC)
		(void)snprintf(out, size, "%s cannot be executed (exit status %d)",
		    pr->kind->executable, WEXITSTATUS(status));
	else
		(void)snprintf(out, size, "exit status %d", WEXITSTATUS(status));
}

/* What a dead one had in hand is gone with it: a drain must not wait for it. */
static void
clear_gauges(struct process *pr, uint32_t routes_n)
{
	struct page *pg = pr->page;

	pr->exchanges = pr->calls = pr->connections = pr->held = 0;
	PAGE_SET(pg->call_id, 0);
	PAGE_SET(pg->call_home, 0);
	PAGE_SET(pg->call_started_ns, 0);
	PAGE_SET(pg->exchanges, 0);
	PAGE_SET(pg->calls_out, 0);
	PAGE_SET(pg->connections, 0);
	page_sources_clear(pg);
	for (uint32_t i = 0; i < routes_n; i++)
		PAGE_SET(pg->routes[i].inflight, 0);
}

static void
log_death(struct process *pr)
{
	char pid[16], generation[24];

	if (pr->state == PROCESS_STOPPING)
		return;
	pr->deaths++;
	(void)snprintf(pid, sizeof pid, "%ld", (long)pr->pid); /* numbers fit */
	(void)snprintf(generation, sizeof generation, "%" PRIu64, pr->gen->number);
	log_kv(LOG_LEVEL_WARNING, "worker died", "worker", pr->name, "pid", pid, "generation",
	    generation, "how", pr->last_words, NULL);
}

static void
settle(struct process *pr, int status)
{
	struct generation *gen = pr->gen;
	uint64_t call_id = PAGE_GET(pr->page->call_id);
	bool served = process_served(pr) != pr->served_before || call_id != 0;
	int64_t ms = pr->ready.ns != 0 ? monotime_ms_between(pr->ready, monotime_now()) : -1;
	struct process_death death = {
		.incarnation = pr->incarnation,
		.call_id = call_id,
		.call_home = PAGE_GET(pr->page->call_home),
		.was_ready = pr->ready.ns != 0,
		.time_limit = call_id != 0 && call_id == pr->late_call,
	};
	char words[PROCESS_WORDS_SIZE];

	describe_status(pr, status, words, sizeof words);
	memcpy(pr->last_words, words, sizeof words);
	log_death(pr);
	channel_free(pr->channel);
	pr->channel = NULL;
	pr->pid = 0;
	pr->ready = (struct monotime){ 0 };
	loop_timer_stop(&pr->timer);
	clear_gauges(pr, gen->program->routes_n);
	if (pr->inbox != NULL || states_is_owner(pr)) /* one for older generations is not announced */
		rundir_remove_inbox(&pr->sv->run, pr->kind->kind, pr->index, pr->incarnation);
	free(pr->inbox);
	pr->inbox = NULL;
	process_event(pr, process_table_exit(ms, served, status));
	death.last = pr->state == PROCESS_DEGRADED || pr->state == PROCESS_DEAD;
	death.reason = words;
	peers_down(pr, &death);
	states_process_gone(pr);
	generation_process_changed(gen, pr); /* may free it */
}

void
process_reap(struct process *pr)
{
	int status;
	pid_t pid;

	if (pr->pid == 0)
		return;
	do {
		pid = waitpid(pr->pid, &status, WNOHANG);
	} while (pid == -1 && errno == EINTR);
	if (pid != pr->pid)
		return;
	if (pr->channel != NULL)
		channel_read_rest(pr->channel); /* what it said last counts */
	settle(pr, status);
}
