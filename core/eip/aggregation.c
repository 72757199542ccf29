/* Built-in aggregation strategies. */
#include "core/eip/aggregation.h"

#include "core/eip/engine.h"

#include <stddef.h>

/* Texts that are put together are bounded; lists are by the items that there are. */
enum { TEXT_MAX = 1 << 30 };

/* ---- a message as a value ---- */

static void
set_member(struct arena *a, struct value *map, const char *name, struct value v)
{
	value_map_set(a, map->u.map, str_of(name), v);
}

/* Its members stand in the exchange's value too, so that "${body[0].body}" finds them in both. */
static struct value
message_value(struct arena *a, struct exchange *ex, uint64_t *held)
{
	struct value map = value_new_map(a, 6, false);
	struct value headers = value_new_map(a, ex->headers.live, true);
	HEADERS_FOREACH (&ex->headers, h)
		value_map_set(
		    a, headers.u.map, arena_str(a, h->name), value_keep(a, &h->value, held));
	map.flags = VALUE_GROUPED;
	set_member(a, &map, "body", value_keep(a, &ex->body, held));
	set_member(a, &map, "headers", headers);
	return map;
}

static struct value
exchange_value(struct arena *a, struct exchange *ex, uint64_t *held)
{
	struct value message = message_value(a, ex, held), map = value_new_map(a, 6, false);
	struct value properties = { .type = VALUE_MAP, .u.map = &ex->properties };
	struct str id = exchange_id(ex);
	map.flags = VALUE_GROUPED;
	set_member(a, &map, "exchangeId", value_str(arena_str(a, id)));
	set_member(a, &map, "message", message);
	set_member(a, &map, "in", message);
	set_member(a, &map, "body", *value_map_find(message.u.map, STR_LIT("body")));
	set_member(a, &map, "headers", *value_map_find(message.u.map, STR_LIT("headers")));
	set_member(a, &map, "properties", value_keep(a, &properties, held));
	return map;
}

/* ---- gathering ---- */

void
gathered_init(
    struct gathered *ga, const struct bean *strategy, enum aggregation_kind otherwise, size_t max)
{
	*ga = (struct gathered){ .kind = otherwise };
	buf_init(&ga->text, max);
	if (strategy == NULL)
		return;
	ga->kind = (enum aggregation_kind)strategy->class->kind;
	if (ga->kind == AGGREGATION_TEXT)
		ga->delimiter = ((const struct aggregation_text_conf *)strategy->conf)->delimiter;
}

/* A message without a body adds nothing, not even a delimiter. */
static enum hinny_rc
add_text(struct gathered *ga, struct exchange *ex)
{
	struct str delimiter = ga->n > 0 && ga->delimiter ? str_of(ga->delimiter) : STR_LIT("");
	if (value_is_null(&ex->body) || ex->body.type == VALUE_STREAM)
		return HINNY_OK;
	struct str text = value_text(&ex->arena, &ex->body);
	if (text.n > SIZE_MAX - delimiter.n)
		return HINNY_ELIMIT;
	enum hinny_rc rc = buf_reserve(&ga->text, delimiter.n + text.n);
	if (rc != HINNY_OK)
		return rc;
	(void)buf_add_str(&ga->text, delimiter); /* there is room */
	return buf_add_str(&ga->text, text);
}

static void
add_item(struct gathered *ga, struct arena *a, struct value v)
{
	if (ga->list.type != VALUE_LIST) {
		ga->list = value_new_list(a, 8);
		ga->list.flags = VALUE_GROUPED;
	}
	if (!value_is_null(&v))
		value_list_add(a, ga->list.u.list, v);
}

enum hinny_rc
gathered_add(struct gathered *ga, struct arena *a, struct exchange *ex)
{
	enum hinny_rc rc = HINNY_OK;
	switch (ga->kind) {
	case AGGREGATION_LATEST:
	case AGGREGATION_ORIGINAL:
		break;
	case AGGREGATION_BODIES:
		add_item(ga, a, value_keep(a, &ex->body, &ga->held));
		break;
	case AGGREGATION_EXCHANGES:
		add_item(ga, a, exchange_value(a, ex, &ga->held));
		break;
	case AGGREGATION_MESSAGES:
		add_item(ga, a, message_value(a, ex, &ga->held));
		break;
	case AGGREGATION_TEXT:
		rc = add_text(ga, ex);
		break;
	}
	if (rc == HINNY_OK)
		ga->n++;
	return rc;
}

void
gathered_add_value(struct gathered *ga, struct arena *a, const struct value *v)
{
	add_item(ga, a, value_keep(a, v, &ga->held));
}

void
gathered_undo(struct gathered *ga, size_t text_n, size_t list_n)
{
	ga->text.n = text_n;
	if (ga->list.type == VALUE_LIST)
		ga->list.u.list->n = list_n;
	ga->n--;
}

struct value
gathered_body(struct gathered *ga, struct arena *a)
{
	if (ga->kind != AGGREGATION_TEXT)
		return ga->list;
	return value_str(arena_str(a, (struct str){ ga->text.p ? ga->text.p : "", ga->text.n }));
}

void
gathered_fini(struct gathered *ga)
{
	buf_fini(&ga->text);
}

/* ---- results of children ---- */

bool
aggregation_keeps_original(const struct bean *strategy)
{
	return strategy && strategy->class->kind != AGGREGATION_LATEST;
}

void
aggregation_init(struct aggregation *ag, struct exchange *ex, const struct bean *strategy,
    enum aggregation_kind otherwise)
{
	*ag = (struct aggregation){ .ex = ex };
	gathered_init(&ag->gathered, strategy, otherwise, TEXT_MAX);
}

static void
note_failure(struct aggregation *ag, const struct exchange *child)
{
	struct arena *a = &ag->ex->arena;
	/* those that gather keep the exception of the first alone: its exchange is the result */
	if (child->exception && (!gathered_is_body(&ag->gathered) || ag->gathered.n == 0)) {
		ag->exception = exception_share(a, child->exception);
		ag->failed_over = child->failed_over;
	}
	/* the result of the others has it as it has their other properties */
	if (ag->gathered.kind == AGGREGATION_ORIGINAL && child->caught &&
	    child->caught != ag->ex->caught && child->exception == NULL)
		ag->caught = exception_share(a, child->caught);
}

/* One that an error handler has ended is the result of the latest, whatever comes behind it and does
 * not fail. */
static bool
stays(const struct aggregation *ag, const struct exchange *child)
{
	const struct exchange *was = ag->result;
	return ag->exception == NULL && child->exception == NULL && was &&
	    (was->rollback_only || engine_was_handled(was));
}

/* The result is the first's, or the last's. */
static void
keep(struct aggregation *ag, struct exchange **child)
{
	if (ag->gathered.kind == AGGREGATION_LATEST && !stays(ag, *child))
		engine_child_free(&ag->result);
	if (ag->result || ag->gathered.kind == AGGREGATION_ORIGINAL) {
		engine_child_free(child);
		return;
	}
	ag->result = *child;
	*child = NULL;
}

bool
aggregation_add(struct aggregation *ag, struct exchange **child)
{
	note_failure(ag, *child);
	bool ok = gathered_add(&ag->gathered, &ag->ex->arena, *child) == HINNY_OK;
	if (!ok)
		exchange_fail(ag->ex, EXCEPTION_BODY_TOO_LARGE,
		    "the texts that are put together are larger than %d bytes", TEXT_MAX);
	keep(ag, child);
	return ok;
}

void
aggregation_finish(struct aggregation *ag)
{
	struct exchange *ex = ag->ex;
	if (ag->caught) {
		const char *text = arena_printf(&ex->arena, "%s: %.*s",
		    exception_class(ag->caught->id)->name, STR_FMT(ag->caught->message));
		ex->caught = ag->caught;
		exchange_set_property(ex, STR_LIT("CamelExceptionCaught"), value_str(str_of(text)));
	}
	if (ag->result) {
		if (ag->exception)
			engine_take_message(ex, ag->result);
		else
			engine_take_result(ex, ag->result);
		if (gathered_is_body(&ag->gathered))
			exchange_set_body(ex, gathered_body(&ag->gathered, &ex->arena));
	}
	aggregation_fini(ag);
}

void
aggregation_fini(struct aggregation *ag)
{
	engine_child_free(&ag->result);
	gathered_fini(&ag->gathered);
}

/* ---- the classes ---- */

#define AT_TEXT(m) offsetof(struct aggregation_text_conf, m)
#define JAVA_PACKAGE "org.apache.camel.processor.aggregate."
#define STRATEGY "AggregationStrategy"

static const struct option_desc text_options[] = {
	{ .name = "delimiter",
	    .type = OPTION_STRING,
	    .offset = AT_TEXT(delimiter),
	    .help = "stands between two texts" },
	OPTIONS_END,
};

static const struct option_desc no_options[] = { OPTIONS_END };

const struct bean_class UseLatest_bean = {
	.name = JAVA_PACKAGE "UseLatestAggregationStrategy",
	.role = STRATEGY,
	.options = no_options,
	.kind = AGGREGATION_LATEST,
	.help = "the last message",
};
const struct bean_class UseOriginal_bean = {
	.name = JAVA_PACKAGE "UseOriginalAggregationStrategy",
	.role = STRATEGY,
	.options = no_options,
	.kind = AGGREGATION_ORIGINAL,
	.help = "the message as it was before",
};
const struct bean_class GroupedBody_bean = {
	.name = JAVA_PACKAGE "GroupedBodyAggregationStrategy",
	.role = STRATEGY,
	.options = no_options,
	.kind = AGGREGATION_BODIES,
	.help = "a list of the bodies",
};
const struct bean_class GroupedExchange_bean = {
	.name = JAVA_PACKAGE "GroupedExchangeAggregationStrategy",
	.role = STRATEGY,
	.options = no_options,
	.kind = AGGREGATION_EXCHANGES,
	.help = "a list of the exchanges, each a map with message, in, properties and exchangeId",
};
const struct bean_class GroupedMessage_bean = {
	.name = JAVA_PACKAGE "GroupedMessageAggregationStrategy",
	.role = STRATEGY,
	.options = no_options,
	.kind = AGGREGATION_MESSAGES,
	.help = "a list of the messages, each a map with body and headers",
};
const struct bean_class String_bean = {
	.name = JAVA_PACKAGE "StringAggregationStrategy",
	.role = STRATEGY,
	.options = text_options,
	.conf_size = sizeof(struct aggregation_text_conf),
	.kind = AGGREGATION_TEXT,
	.help = "the bodies as one text",
};
