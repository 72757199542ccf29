/* Built-in aggregation strategies. */
#include "core/eip/aggregation.h"

#include "core/eip/engine.h"

#include <stddef.h>

/* Texts that are put together are bounded; lists are by the items that there are. */
enum { TEXT_MAX = 1 << 30 };

void
aggregation_init(struct aggregation *ag, struct exchange *ex, const struct bean *strategy,
    enum aggregation_kind otherwise)
{
	*ag = (struct aggregation){ .kind = otherwise, .ex = ex };
	buf_init(&ag->text, TEXT_MAX);
	if (strategy == NULL)
		return;
	ag->kind = (enum aggregation_kind)strategy->class->kind;
	if (ag->kind == AGGREGATION_TEXT)
		ag->delimiter = ((const struct aggregation_text_conf *)strategy->conf)->delimiter;
}

/* ---- a message as a value ---- */

static void
set_member(struct arena *a, struct value *map, const char *name, struct value v)
{
	value_map_set(a, map->u.map, str_of(name), v);
}

static struct value
body_value(struct arena *a, const struct exchange *child)
{
	return child->body.type == VALUE_STREAM ? value_null() : value_share(a, &child->body);
}

static struct value
message_value(struct arena *a, struct exchange *child)
{
	struct value map = value_new_map(a, 2, false);
	struct value headers = value_new_map(a, child->headers.live, true);
	HEADERS_FOREACH (&child->headers, h)
		value_map_set(a, headers.u.map, arena_str(a, h->name), value_share(a, &h->value));
	set_member(a, &map, "body", body_value(a, child));
	set_member(a, &map, "headers", headers);
	return map;
}

static struct value
exchange_value(struct arena *a, struct exchange *child)
{
	struct value map = value_new_map(a, 4, false), message = message_value(a, child);
	struct value properties = { .type = VALUE_MAP, .u.map = &child->properties };
	struct str id = exchange_id(child);
	set_member(a, &map, "exchangeId", value_str(arena_str(a, id)));
	set_member(a, &map, "message", message);
	set_member(a, &map, "in", message);
	set_member(a, &map, "properties", value_share(a, &properties));
	return map;
}

/* ---- gathering ---- */

static void
note_failure(struct aggregation *ag, const struct exchange *child)
{
	struct arena *a = &ag->ex->arena;
	bool propagates = ag->kind == AGGREGATION_LATEST || ag->kind == AGGREGATION_ORIGINAL;
	/* those that gather keep the exception of the first alone: its exchange is the result */
	if (child->exception && (propagates || ag->n == 0))
		ag->exception = exception_share(a, child->exception);
	if (child->caught && child->caught != ag->ex->caught && child->exception == NULL)
		ag->caught = exception_share(a, child->caught);
}

static bool
add_text(struct aggregation *ag, struct exchange *child)
{
	struct value none = value_null();
	const struct value *body = child->body.type == VALUE_STREAM ? &none : &child->body;
	enum hinny_rc rc = HINNY_OK;
	if (ag->n > 0 && ag->delimiter)
		rc = buf_add_str(&ag->text, str_of(ag->delimiter));
	if (rc == HINNY_OK && !value_is_null(body))
		rc = buf_add_str(&ag->text, value_text(&child->arena, body));
	if (rc != HINNY_OK)
		exchange_fail(ag->ex, EXCEPTION_BODY_TOO_LARGE,
		    "the texts that are put together are larger than %d bytes", TEXT_MAX);
	return rc == HINNY_OK;
}

static void
add_item(struct aggregation *ag, struct value v)
{
	if (ag->list.type != VALUE_LIST)
		ag->list = value_new_list(&ag->ex->arena, 8);
	if (!value_is_null(&v))
		value_list_add(&ag->ex->arena, ag->list.u.list, v);
}

/* The result is the first's, or the last's. */
static void
keep(struct aggregation *ag, struct exchange **child)
{
	if (ag->kind == AGGREGATION_LATEST)
		engine_child_free(&ag->result);
	if (ag->result || ag->kind == AGGREGATION_ORIGINAL) {
		engine_child_free(child);
		return;
	}
	ag->result = *child;
	*child = NULL;
}

bool
aggregation_add(struct aggregation *ag, struct exchange **child)
{
	struct arena *a = &ag->ex->arena;
	bool ok = true;
	note_failure(ag, *child);
	switch (ag->kind) {
	case AGGREGATION_LATEST:
	case AGGREGATION_ORIGINAL:
		break;
	case AGGREGATION_BODIES:
		add_item(ag, body_value(a, *child));
		break;
	case AGGREGATION_EXCHANGES:
		add_item(ag, exchange_value(a, *child));
		break;
	case AGGREGATION_MESSAGES:
		add_item(ag, message_value(a, *child));
		break;
	case AGGREGATION_TEXT:
		ok = add_text(ag, *child);
		break;
	}
	ag->n++;
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
		engine_take_message(ex, ag->result);
		if (ag->kind == AGGREGATION_TEXT)
			exchange_set_body(ex,
			    value_str(arena_str(&ex->arena,
				(struct str){ ag->text.p ? ag->text.p : "", ag->text.n })));
		else if (ag->kind != AGGREGATION_LATEST)
			exchange_set_body(ex, ag->list);
	}
	aggregation_fini(ag);
}

void
aggregation_fini(struct aggregation *ag)
{
	engine_child_free(&ag->result);
	buf_fini(&ag->text);
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
