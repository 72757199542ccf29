/* Java's names of types: what a value shows as its class, and which names a route may give. */
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

static const struct {
	const char *name;
	enum value_class_id id;
} class_names[] = {
	{ "String", CLASS_STRING },
	{ "java.lang.String", CLASS_STRING },
	{ "java.lang.CharSequence", CLASS_STRING },
	{ "int", CLASS_INTEGER },
	{ "Integer", CLASS_INTEGER },
	{ "java.lang.Integer", CLASS_INTEGER },
	{ "long", CLASS_LONG },
	{ "Long", CLASS_LONG },
	{ "java.lang.Long", CLASS_LONG },
	{ "short", CLASS_SHORT },
	{ "Short", CLASS_SHORT },
	{ "java.lang.Short", CLASS_SHORT },
	{ "byte", CLASS_BYTE },
	{ "Byte", CLASS_BYTE },
	{ "java.lang.Byte", CLASS_BYTE },
	{ "double", CLASS_DOUBLE },
	{ "Double", CLASS_DOUBLE },
	{ "java.lang.Double", CLASS_DOUBLE },
	{ "float", CLASS_FLOAT },
	{ "Float", CLASS_FLOAT },
	{ "java.lang.Float", CLASS_FLOAT },
	{ "boolean", CLASS_BOOLEAN },
	{ "Boolean", CLASS_BOOLEAN },
	{ "java.lang.Boolean", CLASS_BOOLEAN },
	{ "char", CLASS_CHARACTER },
	{ "Character", CLASS_CHARACTER },
	{ "java.lang.Character", CLASS_CHARACTER },
	{ "byte[]", CLASS_BYTES },
	{ "[B", CLASS_BYTES },
	{ "java.math.BigInteger", CLASS_BIG_INTEGER },
	{ "java.math.BigDecimal", CLASS_BIG_DECIMAL },
	{ "java.util.List", CLASS_LIST },
	{ "java.util.ArrayList", CLASS_LIST },
	{ "java.util.Collection", CLASS_LIST },
	{ "java.util.Map", CLASS_MAP },
	{ "java.util.LinkedHashMap", CLASS_MAP },
	{ "java.util.HashMap", CLASS_MAP },
	{ "java.util.Set", CLASS_SET },
	{ "java.util.Iterator", CLASS_ITERATOR },
	{ "java.util.Date", CLASS_DATE },
	{ "java.io.InputStream", CLASS_INPUT_STREAM },
	{ "java.io.Reader", CLASS_READER },
	{ "org.w3c.dom.Document", CLASS_DOCUMENT },
	{ "org.w3c.dom.Node", CLASS_NODE },
	{ "org.w3c.dom.Element", CLASS_NODE },
	{ "org.w3c.dom.NodeList", CLASS_NODE_LIST },
	{ "java.lang.Object", CLASS_OBJECT },
};

enum value_class_id
value_class_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(class_names); i++) {
		if (str_eq(name, str_of(class_names[i].name)))
			return class_names[i].id;
	}
	return CLASS_NONE;
}

const char *
value_class_name(enum value_class_id id)
{
	switch (id) {
	case CLASS_NONE:
		break;
	case CLASS_STRING:
		return "java.lang.String";
	case CLASS_INTEGER:
		return "java.lang.Integer";
	case CLASS_LONG:
		return "java.lang.Long";
	case CLASS_SHORT:
		return "java.lang.Short";
	case CLASS_BYTE:
		return "java.lang.Byte";
	case CLASS_DOUBLE:
		return "java.lang.Double";
	case CLASS_FLOAT:
		return "java.lang.Float";
	case CLASS_BOOLEAN:
		return "java.lang.Boolean";
	case CLASS_BYTES:
		return "byte[]";
	case CLASS_BIG_INTEGER:
		return "java.math.BigInteger";
	case CLASS_BIG_DECIMAL:
		return "java.math.BigDecimal";
	case CLASS_LIST:
		return "java.util.List";
	case CLASS_MAP:
		return "java.util.Map";
	case CLASS_SET:
		return "java.util.Set";
	case CLASS_INPUT_STREAM:
		return "java.io.InputStream";
	case CLASS_READER:
		return "java.io.Reader";
	case CLASS_DOCUMENT:
		return "org.w3c.dom.Document";
	case CLASS_NODE:
		return "org.w3c.dom.Node";
	case CLASS_NODE_LIST:
		return "org.w3c.dom.NodeList";
	case CLASS_DATE:
		return "java.util.Date";
	case CLASS_OBJECT:
		return "java.lang.Object";
	case CLASS_CHARACTER:
		return "java.lang.Character";
	case CLASS_ITERATOR:
		return "java.util.Iterator";
	}
	return NULL;
}

static const char *
int_class(const struct value *v)
{
	if (v->flags & VALUE_DATE)
		return "java.util.Date";
	return (v->flags & VALUE_LONG) || v->u.i < INT32_MIN || v->u.i > INT32_MAX
	    ? "java.lang.Long"
	    : "java.lang.Integer";
}

static const char *
json_class(const struct value *v)
{
	struct arena a;
	const char *name;

	if (v->u.json->type == JSON_IS_ARRAY)
		return "java.util.ArrayList";
	if (v->u.json->type == JSON_IS_OBJECT)
		return "java.util.LinkedHashMap";
	arena_init(&a);
	struct value scalar = value_from_json(&a, v->u.json, NULL);
	name = value_class(&scalar);
	arena_fini(&a);
	return name;
}

const char *
value_class(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NULL:
	case VALUE_TYPES:
		return NULL;
	case VALUE_BOOL:
		return "java.lang.Boolean";
	case VALUE_INT:
		return int_class(v);
	case VALUE_DOUBLE:
		return v->flags & VALUE_FLOAT ? "java.lang.Float" : "java.lang.Double";
	case VALUE_DECIMAL:
		return value_is_digits(v->u.s) ? "java.math.BigInteger" : "java.math.BigDecimal";
	case VALUE_STRING:
		return v->flags & VALUE_INPUT ? "org.apache.camel.converter.stream.ByteArrayInputStreamCache"
					      : "java.lang.String";
	case VALUE_BYTES:
		return v->flags & VALUE_INPUT ? "org.apache.camel.converter.stream.ByteArrayInputStreamCache"
					      : "byte[]";
	case VALUE_LIST:
		if (v->flags & VALUE_GROUPED)
			return "org.apache.camel.processor.aggregate."
			       "AbstractListAggregationStrategy$GroupedExchangeList";
		return v->flags & VALUE_ARRAY ? "java.lang.Object[]" : "java.util.ArrayList";
	case VALUE_MAP:
		if (v->flags & VALUE_GROUPED)
			return value_map_find(v->u.map, STR_LIT("exchangeId")) != NULL
			    ? "org.apache.camel.support.DefaultExchange"
			    : "org.apache.camel.support.DefaultMessage";
		if (v->flags & VALUE_RECORD)
			return "org.apache.kafka.clients.producer.RecordMetadata";
		return "java.util.LinkedHashMap";
	case VALUE_JSON:
		return json_class(v);
	case VALUE_XML:
		return v->flags & VALUE_NODESET ? "org.w3c.dom.NodeList" : "org.w3c.dom.Document";
	case VALUE_STREAM:
		return "java.io.InputStream";
	}
	return NULL;
}
