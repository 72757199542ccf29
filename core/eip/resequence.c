/*
 * resequence: messages leave it in another order than they came, by an expression: in batches, or
 * as a stream of numbers whose gaps are waited for. The message itself goes on behind the step; a
 * copy of it runs through the steps when its turn comes, in the process that owns the state.
 */
#include "core/eip/resequence.h"

#include "core/config/compile.h"
#include "core/eip/engine_priv.h"
#include "core/eip/state.h"

#include <stddef.h>

#define AT(m) offsetof(struct resequence_conf, m)
#define AT_BATCH(m) offsetof(struct batch_conf, m)
#define AT_STREAM(m) offsetof(struct stream_conf, m)

enum { FULL_WAIT_MS = 100, FULL_WAIT_MIN_MS = 10, RESEQUENCE_MAX = 100000 };

/* ---- messages that cannot be ordered ---- */

static void
fail_with_cause(struct exchange *ex, const char *what, struct exception *cause)
{
	struct str message = cause->message;
	exchange_fail(ex, EXCEPTION_CAMEL_EXCHANGE,
	    "%s. Exchange[]. Caused by: [%s - %.*s]", what, exception_class(cause->id)->name, STR_FMT(message));
	ex->exception->cause = cause;
}

static enum step_rc
invalid(struct exchange *ex, const struct step *st)
{
	const struct stream_conf *stream = resequence_stream(st);
	ex->exception = NULL;
	if (stream ? stream->ignore_invalid : resequence_batch(st)->ignore_invalid)
		return STEP_DONE;
	if (stream)
		fail_with_cause(ex, "Error processing Exchange in StreamResequencer",
		    exception_new(&ex->arena, EXCEPTION_ILLEGAL_ARGUMENT,
			"Element cannot be used in comparator: %s{%s}",
			st->expr->language->name, st->expr->text));
	else
		exchange_fail(ex, EXCEPTION_CAMEL_EXCHANGE,
		    "Exchange is not valid to be used by the BatchProcessor. Exchange[]");
	return STEP_FAILED;
}

static enum step_rc
too_old(struct exchange *ex, const struct step *st, int64_t number)
{
	if (resequence_stream(st)->ignore_invalid)
		return STEP_DONE;
	fail_with_cause(ex, "Error processing Exchange in StreamResequencer",
	    exception_new(&ex->arena, EXCEPTION_MESSAGE_REJECTED,
		"rejecting message [%lld], it should have been sent before the last delivered "
		"message",
		(long long)number));
	return STEP_FAILED;
}

/* ---- running ---- */

/* There is no room: the exchange waits, and the step runs again. */
static enum step_rc
wait_for_room(struct exchange *ex, const struct step *st)
{
	const struct stream_conf *stream = resequence_stream(st);
	int64_t ms = stream ? stream->timeout_ms : FULL_WAIT_MS;
	engine_state_end(ex->run); /* it will be asked anew */
	enum step_rc rc = engine_again(ex);
	ex->engine->ops->wait(ex->engine, ex, ms > FULL_WAIT_MIN_MS ? ms : FULL_WAIT_MIN_MS);
	return rc;
}

/* False: there is none that could be used. */
static bool
key_of(struct exchange *ex, const struct step *st, struct value *key)
{
	struct hinny_error err;
	struct value v = *key;
	if (resequence_stream(st) &&
	    value_convert_number(&ex->arena, &v, CLASS_LONG, key, &err) != HINNY_OK)
		return false;
	return !value_is_null(key);
}

static enum step_rc
resequence_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	struct value key, answer;
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	enum eval_rc rc = expression_eval(st->expr, ex, &key);
	if (rc == EVAL_NEED)
		return STEP_NEED;
	if (rc == EVAL_ERROR || !key_of(ex, st, &key))
		return invalid(ex, st);
	rc = engine_state(ex, st->state, RESEQUENCE_INSERT, &key, &answer);
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	if (answer.type == VALUE_INT && answer.u.i == RESEQUENCE_FULL)
		return wait_for_room(ex, st);
	if (answer.type == VALUE_INT && answer.u.i == RESEQUENCE_OLD)
		return too_old(ex, st, key.u.i);
	return STEP_DONE;
}

/* ---- options ---- */

/* Without any configuration. */
static const struct batch_conf default_batch = { .size = 100, .timeout_ms = 1000 };

static int
resequence_check(struct compile *c, struct step *st)
{
	struct resequence_conf *conf = st->conf;
	st->reads.flags |= ACCESS_ALL;
	if (conf->batch && conf->stream)
		return compile_error(
		    c, st->at, "only one of batchConfig and streamConfig can be given");
	if (conf->stream == NULL)
		conf->batching = conf->batch ? conf->batch->conf : &default_batch;
	(void)compile_state(c, st, &resequence_messages);
	return 0;
}

static const struct option_desc resequence_options[] = {
	{ .name = "batchConfig",
	    .type = OPTION_NODE,
	    .values = "batchConfig",
	    .offset = AT(batch),
	    .help = "order messages in batches; also without any" },
	{ .name = "streamConfig",
	    .type = OPTION_NODE,
	    .values = "streamConfig",
	    .offset = AT(stream),
	    .help = "order messages as they come, by numbers without gaps" },
	OPTIONS_END,
};

const struct eip_desc resequence_eip = {
	.name = "resequence",
	.flags = EIP_EXPRESSION | EIP_STEPS | EIP_TAKES,
	.options = resequence_options,
	.conf_size = sizeof(struct resequence_conf),
	.check = resequence_check,
	.run = resequence_run,
	.help = "runs its steps for messages in the order of an expression",
};

static const struct option_desc batch_options[] = {
	{ .name = "batchSize",
	    .type = OPTION_INT,
	    .dflt = "100",
	    .min = 1,
	    .max = RESEQUENCE_MAX,
	    .offset = AT_BATCH(size),
	    .help = "messages in a batch" },
	{ .name = "batchTimeout",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT_BATCH(timeout_ms),
	    .help = "a batch is over when nothing has come for so long" },
	{ .name = "allowDuplicates",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_BATCH(duplicates),
	    .help = "keep messages that are equal to one before; else they are dropped" },
	{ .name = "reverse",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_BATCH(reverse),
	    .help = "the greatest first" },
	{ .name = "ignoreInvalidExchanges",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_BATCH(ignore_invalid),
	    .help = "messages for which the expression has no value are left out; else they "
		    "fail" },
	OPTIONS_END,
};

const struct eip_desc batchConfig_eip = {
	.name = "batchConfig",
	.flags = EIP_CHILD | EIP_NOT_A_STEP,
	.options = batch_options,
	.conf_size = sizeof(struct batch_conf),
	.help = "how a resequencer makes batches",
};

static const struct option_desc stream_options[] = {
	{ .name = "capacity",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .min = 1,
	    .max = RESEQUENCE_MAX,
	    .offset = AT_STREAM(capacity),
	    .help = "messages that may wait; beyond that the next ones wait before the step" },
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT_STREAM(timeout_ms),
	    .help = "how long a missing message is waited for" },
	{ .name = "deliveryAttemptInterval",
	    .type = OPTION_DURATION,
	    .dflt = "1000",
	    .min = 1,
	    .max = INT32_MAX,
	    .offset = AT_STREAM(interval_ms),
	    .help = "how often it looks whether a time-out is over; it does too when a message "
		    "comes" },
	{ .name = "ignoreInvalidExchanges",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_STREAM(ignore_invalid),
	    .help = "messages without a number, or too old, are left out; else they fail" },
	{ .name = "rejectOld",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .offset = AT_STREAM(reject_old),
	    .help = "fail messages that should have been before the last that left" },
	OPTIONS_END,
};

const struct eip_desc streamConfig_eip = {
	.name = "streamConfig",
	.flags = EIP_CHILD | EIP_NOT_A_STEP,
	.options = stream_options,
	.conf_size = sizeof(struct stream_conf),
	.help = "how a resequencer puts a stream in order",
};
