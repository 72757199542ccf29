/*
 * idempotentConsumer: runs its steps for messages whose key has not been seen; the others go on
 * behind it.
 *
 * The key is held from before the steps (eager) and becomes final when the exchange is done; it is
 * taken back when the exchange fails, or its failure was handled, as in Camel. With completionEager
 * that is decided at the end of the steps. An answer of the repository that never came (a deadline,
 * an exchange that was aborted) leaves no key behind.
 */
#include "core/eip/idempotent.h"

#include "core/config/compile.h"
#include "core/eip/state.h"
#include "core/eip/steps.h"

#include <stddef.h>

#define AT(m) offsetof(struct idempotent_conf, m)
#define DUPLICATE "CamelDuplicateMessage"

/* A key that an exchange asked for. In the arena of its unit of work. */
struct held {
	const struct step *st;
	struct exchange *ex; /* whose step it is */
	struct value key, pair;
	enum { ASKED, HELD, SETTLED } phase;
};

static const struct idempotent_conf *
conf_of(const struct step *st)
{
	return st->conf;
}

/* ---- the end ---- */

/* What is done counts before anybody hears that the exchange is: who sends the message again at once
 * must find its key removed, or there. A key that is there already and becomes final waits for
 * nobody. */
static enum eval_rc
settle(struct exchange *ex, struct held *held, bool failed)
{
	const struct idempotent_conf *conf = conf_of(held->st);
	struct exception *before = ex->exception;
	struct value answer;
	bool removes = failed && conf->remove_on_failure;
	enum eval_rc rc = EVAL_OK;
	if (held->phase != HELD)
		return rc;
	if (removes || (!conf->eager && !failed))
		rc = engine_state(
		    ex, conf->keys, removes ? KEYS_REMOVE : KEYS_PUT, &held->key, &answer);
	else if (conf->eager)
		engine_state_note(ex, conf->keys, KEYS_CONFIRM, &held->key);
	if (rc == EVAL_NEED)
		return rc;
	ex->exception = before; /* an owner that died knows no keys any more */
	held->phase = SETTLED;
	return EVAL_OK;
}

static enum eval_rc
unit_end(struct exchange *unit, void *arg)
{
	return settle(unit, arg, unit->exception != NULL || engine_was_handled(unit));
}

/* The owner may have added the key, and its answer did not come. */
static void
give_back(struct exchange *ex, struct held *held)
{
	const struct idempotent_conf *conf = conf_of(held->st);
	if (conf->eager)
		engine_state_note(ex, conf->keys, KEYS_GIVE_BACK, &held->pair);
	held->phase = SETTLED;
}

/* Only of an exchange that was aborted something is left to do, and one whose answer never came. */
static void
unit_done(struct exchange *unit, void *arg)
{
	struct held *held = arg;
	const struct idempotent_conf *conf = conf_of(held->st);
	if (held->phase == HELD && conf->remove_on_failure)
		engine_state_note(unit, conf->keys, KEYS_REMOVE, &held->key);
	else if (held->phase == HELD && conf->eager)
		engine_state_note(unit, conf->keys, KEYS_CONFIRM, &held->key);
	else if (held->phase == ASKED)
		give_back(unit, held);
	held->phase = SETTLED;
}

/* ---- the beginning ---- */

/* When the step runs again it finds what it has asked before. */
static struct held *
hold(struct exchange *ex, const struct step *st, struct str key)
{
	struct exchange *unit = engine_unit(ex);
	struct held *held = engine_done_arg(unit, unit_done);
	if (held && held->phase == ASKED && held->st == st && held->ex == ex)
		return held;
	held = ARENA_NEW(&unit->arena, struct held);
	*held = (struct held){ .st = st, .ex = ex };
	held->key = value_str(arena_str(&unit->arena, key));
	held->pair = value_new_list(&unit->arena, 2);
	value_list_add(&unit->arena, held->pair.u.list, held->key);
	value_list_add(&unit->arena, held->pair.u.list, value_int((int64_t)unit->seq));
	engine_on_end(unit, unit_end, held);
	engine_on_done(unit, unit_done, held);
	return held;
}

static enum step_rc
enter(struct exchange *ex, const struct step *st, struct held *held, bool fresh)
{
	if (!fresh)
		exchange_set_property(ex, STR_LIT(DUPLICATE), value_bool(true));
	held->phase = fresh || !conf_of(st)->skip_duplicate ? HELD : SETTLED;
	return held->phase == HELD ? engine_enter(ex, st, &st->block, 0, held) : STEP_DONE;
}

static enum eval_rc
key_of(struct exchange *ex, const struct step *st, struct str *key)
{
	bool null;
	enum eval_rc rc = expression_text(st->expr, ex, key, &null);
	if (rc != EVAL_OK)
		return rc;
	if (!null && key->n <= IDEMPOTENT_KEY_MAX)
		return EVAL_OK;
	if (null)
		exchange_fail(ex, EXCEPTION_NO_MESSAGE_ID,
		    "No message id could be found using expression: %s{%s} on message exchange: "
		    "Exchange[]",
		    st->expr->language->name, st->expr->text);
	else
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "idempotentConsumer: the key is longer than %d bytes", IDEMPOTENT_KEY_MAX);
	return EVAL_ERROR;
}

static enum step_rc
idempotent_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct idempotent_conf *conf = st->conf;
	struct str key;
	struct value answer;
	enum eval_rc rc = key_of(ex, st, &key);
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	struct held *held = hold(ex, st, key);
	rc = engine_state(ex, conf->keys, conf->eager ? KEYS_ADD : KEYS_HAS,
	    conf->eager ? &held->pair : &held->key, &answer);
	if (rc == EVAL_OK)
		return enter(ex, st, held, value_truth(&answer) == conf->eager);
	if (rc == EVAL_ERROR)
		give_back(ex, held);
	return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
}

static enum step_rc
idempotent_after(
    struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	if (conf_of(st)->completion_eager && settle(ex, act->state, false) == EVAL_NEED)
		return STEP_NEED;
	return STEP_DONE;
}

static enum step_rc
idempotent_caught(
    struct engine *en, struct exchange *ex, const struct step *st, struct activation *act)
{
	(void)en;
	if (conf_of(st)->completion_eager && settle(ex, act->state, true) == EVAL_NEED)
		return STEP_NEED;
	return STEP_FAILED;
}

/* ---- options ---- */

static int
idempotent_check(struct compile *c, struct step *st)
{
	struct idempotent_conf *conf = st->conf;
	access_add_property(c, &st->writes, DUPLICATE);
	if (conf->repository == NULL)
		return -1; /* reported */
	if (conf->repository->name)
		conf->keys = compile_state_shared(c,
		    arena_printf(
			compile_arena(c), "idempotentRepository:%s", conf->repository->name),
		    &idempotent_keys);
	else
		conf->keys = compile_state(c, st, &idempotent_keys);
	if (conf->keys)
		conf->keys->conf = conf->repository->conf;
	return 0;
}

static const struct option_desc options[] = {
	{ .name = "idempotentRepository",
	    .type = OPTION_BEAN,
	    .flags = OPTION_REQUIRED,
	    .values = "IdempotentRepository",
	    .offset = AT(repository),
	    .help = "where the keys are: a bean, which several may share, or "
		    "#class:org.apache.camel.support.processor.idempotent."
		    "MemoryIdempotentRepository" },
	{ .name = "eager",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(eager),
	    .help = "the key counts from before the steps, not from when they have been run" },
	{ .name = "completionEager",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT(completion_eager),
	    .help = "the key is final, or removed, at the end of the steps and not of the "
		    "exchange" },
	{ .name = "skipDuplicate",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(skip_duplicate),
	    .help = "false: the steps run for duplicates too, with property " DUPLICATE },
	{ .name = "removeOnFailure",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .offset = AT(remove_on_failure),
	    .help = "the key of a message that failed is taken back, so that it can come again" },
	OPTIONS_END,
};

const struct eip_desc idempotentConsumer_eip = {
	.name = "idempotentConsumer",
	.flags = EIP_EXPRESSION | EIP_STEPS,
	.options = options,
	.conf_size = sizeof(struct idempotent_conf),
	.check = idempotent_check,
	.run = idempotent_run,
	.after = idempotent_after,
	.caught = idempotent_caught,
	.help = "runs its steps once for each key; what follows runs for duplicates too",
};
