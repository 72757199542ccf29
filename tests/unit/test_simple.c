/* core/lang/simple*: the vectors of the specification, the cases from the field, what is refused at
 * load. */
#include "core/lang/simple.h"

#include "core/lang/simple_priv.h"
#include "tests/lib/simple_case.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *label, *text, *expected;
};

static void
check(const struct row *r, bool predicate)
{
	struct lang_case lc;
	lang_case_init(&lc);
	simple_case_message(&lc);
	assert_string_equal(lang_case_run(&lc, "simple", r->text, predicate), r->expected);
	lang_case_fini(&lc);
}

static void
check_expression(void **state)
{
	check(*state, false);
}

static void
check_predicate(void **state)
{
	check(*state, true);
}

static const struct row spec_expressions[] = {
	{ "Hi ${body}!", "Hi ${body}!", "Hi Hello World!" },
	{ "${header.FOO}", "${header.FOO}", "abc" },
	{ "a${header.missing}b", "a${header.missing}b", "ab" },
	{ "${header.missing}", "${header.missing}", NULL_VALUE },
	{ "${header.list[0]}", "${header.list[0]}", "a" },
	{ "${header.list[last-1]}", "${header.list[last-1]}", "b" },
	{ "${header.list[9]}", "${header.list[9]}", FAILS },
	{ "${header.list.size}", "${header.list.size}", "3" },
	{ "${header.map[k]}", "${header.map[k]}", "v" },
	{ "${header.map[zz]}", "${header.map[zz]}", NULL_VALUE },
	{ "${header.map.k}", "${header.map.k}", FAILS },
	{ "${header.int}++", "${header.int}++", "43" },
	{ "${header.num}++", "${header.num}++", "43" },
	{ "${header.dbl}++", "${header.dbl}++", "4.0" },
	{ "${header.missing} ?: 'Guest'", "${header.missing} ?: 'Guest'", "Guest" },
	{ "${header.empty} ?: 'Guest'", "${header.empty} ?: 'Guest'", "Guest" },
	{ "${header.int > 5 ? 'yes' : 'no'}", "${header.int > 5 ? 'yes' : 'no'}", "yes" },
	{ "${header.int} > 5 ? 'yes' : 'no'", "${header.int} > 5 ? 'yes' : 'no'",
	    "42 > 5 ? 'yes' : 'no'" },
	{ "pre ${header.foo == 'x' ? 'T' : 'F'} post", "pre ${header.foo == 'x' ? 'T' : 'F'} post",
	    "pre F post" },
	{ "${header.foo == 'abc'}", "${header.foo == 'abc'}", NULL_VALUE },
	{ "${header.foo} == 'abc'", "${header.foo} == 'abc'", "abc == 'abc'" },
	{ "a\\nb", "a\\nb", "a\nb" },
	{ "a\\\\b", "a\\\\b", "a\\\\b" },
	{ "a\\}b", "a\\}b", "a}b" },
	{ "\\${body}", "\\${body}", "\\Hello World" },
	{ "$${body}", "$${body}", "$Hello World" },
	{ "cost $5", "cost $5", "cost $5" },
	{ "$simple{body}", "$simple{body}", "Hello World" },
	{ "{\"k\": \"${header.missing}\", \"n\": ${header.missing}}",
	    "{\"k\": \"${header.missing}\", \"n\": ${header.missing}}", "{\"k\": \"\", \"n\": }" },
	{ "${body", "${body", REFUSED },
	{ "${nosuch}", "${nosuch}", REFUSED },
	{ "${ header.foo }", "${ header.foo }", REFUSED },
	{ "${body.length}", "${body.length}", "11" },
	{ "${body.substring(0,5)}", "${body.substring(0,5)}", "Hello" },
	{ "${body.contains('World')}", "${body.contains('World')}", "true" },
	{ "${body.nosuch}", "${body.nosuch}", FAILS },
	{ "${bodyAs(Integer)}", "${bodyAs(Integer)}", FAILS },
	{ "${length()}", "${length()}", "11" },
	{ "${size()}", "${size()}", "1" },
	{ "${uppercase('x ${header.foo}')}", "${uppercase('x ${header.foo}')}", "X ABC" },
	{ "${substring(3)}", "${substring(3)}", "lo World" },
	{ "${substring(-3)}", "${substring(-3)}", "Hello Wo" },
	{ "${substring(1,-1)}", "${substring(1,-1)}", "ello Worl" },
	{ "${substring(99)}", "${substring(99)}", "" },
	{ "${substring(2,0,${header.foo})}", "${substring(2,0,${header.foo})}", "c" },
	{ "${substringBefore('zz')}", "${substringBefore('zz')}", NULL_VALUE },
	{ "${substringBetween('H','W')}", "${substringBetween('H','W')}", "ello " },
	{ "${substringAfter(${header.title},'in ')}", "${substringAfter(${header.title},'in ')}",
	    "Action" },
	{ "${replace(l,&empty;)}", "${replace(l,&empty;)}", "Heo Word" },
	{ "${replace('b','X',${header.foo})}", "${replace('b','X',${header.foo})}", "aXc" },
	{ "${concat(${header.foo},${header.num},'-')}",
	    "${concat(${header.foo},${header.num},'-')}", "abc-42" },
	{ "${join('&','id=',${header.list})}", "${join('&','id=',${header.list})}",
	    "id=a&id=b&id=c" },
	{ "${pad(${header.foo},-6,'*')}", "${pad(${header.foo},-6,'*')}", "***abc" },
	{ "${quote(${header.int})}", "${quote(${header.int})}", "\"42\"" },
	{ "${split(' ')}", "${split(' ')}", "[Hello, World]" },
	{ "${contains(WORLD)}", "${contains(WORLD)}", "true" },
	{ "${iif(${header.int} > 5,'pos','neg')}", "${iif(${header.int} > 5,'pos','neg')}",
	    "'pos'" },
	{ "${iif(${header.int} > 5,yes,no)}", "${iif(${header.int} > 5,yes,no)}", "yes" },
	{ "${sum(${header.int},-2)}", "${sum(${header.int},-2)}", "40" },
	{ "${sum(1.5,2)}", "${sum(1.5,2)}", "2" },
	{ "${floor(-5.9)}", "${floor(-5.9)}", "-6" },
	{ "${average(1,2,4)}", "${average(1,2,4)}", "2" },
	{ "${range(3)}", "${range(3)}", "[1, 2]" },
	{ "${random(5,6)}", "${random(5,6)}", "5" },
	{ "${hash(abc,MD5)}", "${hash(abc,MD5)}", "900150983cd24fb0d6963f7d28e17f72" },
	{ "${isEmpty}", "${isEmpty}", REFUSED },
	{ "${exchangeProperty.missing}", "${exchangeProperty.missing}", NULL_VALUE },
	{ "${variable.vn}++", "${variable.vn}++", "6" },
	{ "${headerAs(foo,Integer)}", "${headerAs(foo,Integer)}", FAILS },
	{ "${int:header.num}", "${int:header.num}", "42" },
	{ "${properties:nope}", "${properties:nope}", FAILS },
	{ "${properties:nope:def}", "${properties:nope:def}", "def" },
	{ "${date:header.bday:yyyy-MM-dd'T'HH:mm:ss}", "${date:header.bday:yyyy-MM-dd'T'HH:mm:ss}",
	    "2024-05-01T10:00:00" },
	{ "${date:header.bday+24h:yyyyMMdd}", "${date:header.bday+24h:yyyyMMdd}", "20240502" },
	{ "${date-with-timezone:header.bday:Europe/Paris:yyyy-MM-dd'T'HH:mm:ssXXX}",
	    "${date-with-timezone:header.bday:Europe/Paris:yyyy-MM-dd'T'HH:mm:ssXXX}",
	    "2024-05-01T12:00:00+02:00" },
	{ "${date:header.missing:yyyy}", "${date:header.missing:yyyy}", FAILS },
	{ "${substringAfter('Hello')} ~> ${trim()} ~> ${uppercase()}",
	    "${substringAfter('Hello')} ~> ${trim()} ~> ${uppercase()}", "WORLD" },
	{ "X ${trim()} ~> ${uppercase()} Y", "X ${trim()} ~> ${uppercase()} Y", "X HELLO WORLD Y" },
	{ "${header.title} ~> ${split(' ')} ~> ${join('-')}",
	    "${header.title} ~> ${split(' ')} ~> ${join('-')}", "Camel-in-Action" },
	{ "${header.num} + 1", "${header.num} + 1", "42 + 1" },
	{ " ${header.list}", " ${header.list}", " [a, b, c]" },
	{ " ${header.map}", " ${header.map}", " {k=v}" },
	{ "${jsonpath(header:json,$.id)}", "${jsonpath(header:json,$.id)}", "7" },
	{ "${header.foo.toUpperCase}", "${header.foo.toUpperCase}", FAILS },
};

static const struct row spec_predicates[] = {
	{ "${header.num} == 42", "${header.num} == 42", IS_TRUE },
	{ "${header.int} == '42'", "${header.int} == '42'", IS_TRUE },
	{ "${header.int} == 42.0", "${header.int} == 42.0", IS_TRUE },
	{ "${header.seven} == '7.0'", "${header.seven} == '7.0'", IS_FALSE },
	{ "${header.zero7} == '7'", "${header.zero7} == '7'", IS_TRUE },
	{ "${header.zero7} > '08'", "${header.zero7} > '08'", IS_FALSE },
	{ "${header.ver} > '9'", "${header.ver} > '9'", IS_TRUE },
	{ "${header.t35} > 3", "${header.t35} > 3", IS_TRUE },
	{ "${header.dbl} > 3", "${header.dbl} > 3", IS_FALSE },
	{ "${header.dbl} > 3.0", "${header.dbl} > 3.0", IS_TRUE },
	{ "${header.dbl} > '3'", "${header.dbl} > '3'", IS_FALSE },
	{ "${header.dbl} > '3.4'", "${header.dbl} > '3.4'", IS_TRUE },
	{ "${header.dbl} <= 3", "${header.dbl} <= 3", IS_TRUE },
	{ "${header.int} > 41.5", "${header.int} > 41.5", IS_TRUE },
	{ "${header.foo} > 5", "${header.foo} > 5", IS_TRUE },
	{ "${header.foo} =~ 'ABC'", "${header.foo} =~ 'ABC'", IS_TRUE },
	{ "${header.missing} == ''", "${header.missing} == ''", IS_FALSE },
	{ "${header.empty} == null", "${header.empty} == null", IS_FALSE },
	{ "${header.missing} < 5", "${header.missing} < 5", IS_FALSE },
	{ "${header.missing} >= 5", "${header.missing} >= 5", IS_FALSE },
	{ "${header.missing} != 'x'", "${header.missing} != 'x'", IS_TRUE },
	{ "${header.missing} !in 'a,b'", "${header.missing} !in 'a,b'", IS_TRUE },
	{ "${header.medal} in 'silver, gold'", "${header.medal} in 'silver, gold'", IS_FALSE },
	{ "${header.medal} in 'gold, silver'", "${header.medal} in 'gold, silver'", IS_TRUE },
	{ "${header.empty} in ',,a'", "${header.empty} in ',,a'", IS_TRUE },
	{ "${header.missing} in ',,a'", "${header.missing} in ',,a'", IS_FALSE },
	{ "'b' in ${header.list}", "'b' in ${header.list}", IS_TRUE },
	{ "${header.list} contains 'a'", "${header.list} contains 'a'", IS_TRUE },
	{ "${header.list} contains 'A'", "${header.list} contains 'A'", IS_FALSE },
	{ "${header.list} ~~ 'A'", "${header.list} ~~ 'A'", IS_TRUE },
	{ "${header.map} contains 'k'", "${header.map} contains 'k'", IS_FALSE },
	{ "${header.int} contains '4'", "${header.int} contains '4'", IS_FALSE },
	{ "${header.foo} regex 'b'", "${header.foo} regex 'b'", IS_FALSE },
	{ "${header.num} regex '\\d{2}'", "${header.num} regex '\\d{2}'", IS_TRUE },
	{ "${header.num} regex '\\\\d{2}'", "${header.num} regex '\\\\d{2}'", IS_FALSE },
	{ "${header.title} regex '(?i)camel.*'", "${header.title} regex '(?i)camel.*'", IS_TRUE },
	{ "${header.int} range '40..42'", "${header.int} range '40..42'", IS_TRUE },
	{ "${header.int} range 40..42", "${header.int} range 40..42", REFUSED },
	{ "${header.foo} == abc", "${header.foo} == abc", REFUSED },
	{ "${header.foo} = 'abc'", "${header.foo} = 'abc'", REFUSED },
	{ "${header.foo}=='abc'", "${header.foo}=='abc'", REFUSED },
	{ "${header.foo} == 'abc' and ${header.num} == 42",
	    "${header.foo} == 'abc' and ${header.num} == 42", REFUSED },
	{ "${body} != null && ${body} != ''", "${body} != null && ${body} != ''", IS_TRUE },
	{ "${header.flag} == 'true'", "${header.flag} == 'true'", IS_TRUE },
	{ "${header.flag} == 'TRUE'", "${header.flag} == 'TRUE'", IS_TRUE },
	{ "${header.sflag} == 'TRUE'", "${header.sflag} == 'TRUE'", IS_FALSE },
	{ "${header.sflag}", "${header.sflag}", IS_TRUE },
	{ "${header.foo}", "${header.foo}", IS_TRUE },
	{ "${header.missing}", "${header.missing}", IS_FALSE },
	{ "hello", "hello", REFUSED },
	{ "${header.bytes} == 'bytes'", "${header.bytes} == 'bytes'", IS_TRUE },
	{ "${header.list} == '[a, b, c]'", "${header.list} == '[a, b, c]'", IS_TRUE },
	{ "${header.title} contains 'camel'", "${header.title} contains 'camel'", IS_FALSE },
	{ "${header.title} ~~ 'camel'", "${header.title} ~~ 'camel'", IS_TRUE },
	{ "${header.lines} == 'a\\nb'", "${header.lines} == 'a\\nb'", IS_FALSE },
	{ "number 0 alone", "${header.zero}", IS_TRUE },
	{ "size of a list", "${header.list.size} > 2", IS_TRUE },
};

static const struct row more_expressions[] = {
	{ "in.header", "${in.header.foo}", "abc" },
	{ "in.headers", "${in.headers.foo}", "abc" },
	{ "in.body", "${in.body}", "Hello World" },
	{ "header with colon", "${header:foo}", "abc" },
	{ "header in brackets", "${headers[foo]}", "abc" },
	{ "header in brackets and quotes", "${header['X-Trace-Id']}", "t-9" },
	{ "header in brackets and double quotes", "${header[\"X-Trace-Id\"]}", "t-9" },
	{ "null safe header", "${header?.foo}", "abc" },
	{ "dotted name first", "${header.a.b}", "dotted" },
	{ "blank belongs to the name", "[${header.foo }]", "[]" },
	{ "name made by a function", "${header.${header.which}}", "abc" },
	{ "name made by a function in brackets", "[${header[${header.which}]}]", "[abc]" },
	{ "name with an index made by a function", "${header.list[${header.zero}]}", "a" },
	{ "property", "${exchangeProperty.prop}/${exchangeProperty[prop]}/${exchangeProperty:prop}",
	    "pv/pv/pv" },
	{ "variable", "${variable.v1}/${variable[v1]}/${variable:v1}", "var/var/var" },
	{ "other scopes", "${variable.route:x}", REFUSED },
	{ "headers.size", "${headers.size}", "24" },
	{ "variables.size", "${variables.size}", "2" },
	{ "variables", "${variables}", "{v1=var, vn=5}" },
	{ "typed access",
	    "${headerAs(num,int)} ${bodyAs(String)} ${mandatoryBodyAs('String')} "
	    "${variableAs(vn,String)}",
	    "42 Hello World Hello World 5" },
	{ "typed access with a path", "${bodyAs(String).length()}", "11" },
	{ "unknown type", "${bodyAs(Foo)}", REFUSED },
	{ "long: and string:", "${long:header.num}${string:header.int}${boolean:header.sflag}",
	    "4242true" },
	{ "body hint", "${bodyy}", REFUSED },
	{ "property does not exist", "${property.x}", REFUSED },
	{ "messageId does not exist", "${messageId}", REFUSED },
	{ "year of the week", "${date:header.bday+5856h:YYYY-ww yyyy}", "2025-01 2024" },
	{ "year of the week in its middle", "${date:header.bday:YYYY-ww}", "2024-18" },
	{ "summer time", "${date-with-timezone:header.bday-744h:Europe/Paris:yyyy-MM-dd HH:mm z}",
	    "2024-03-31 12:00 CEST" },
	{ "before summer time",
	    "${date-with-timezone:header.bday-758h:Europe/Paris:yyyy-MM-dd HH:mm z}",
	    "2024-03-30 21:00 CET" },
	{ "replaceAll", "${body.replaceAll('(l+)o?','<$1>')}", "He<ll> Wor<l>d" },
	{ "replaceFirst", "${body.replaceFirst('[a-z&&[^l]]','-')}", "H-llo World" },
	{ "replaceAll by a group that is not there", "${body.replaceAll('l','$1')}", FAILS },
	{ "replaceAll by a wrong pattern", "${body.replaceAll('(','x')}", FAILS },
	{ "hash", "${hash(abc)}",
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "hash MD5", "${hash(abc,MD5)}", "900150983cd24fb0d6963f7d28e17f72" },
	{ "hash SHA-1", "${hash(${header.foo}, SHA-1)}",
	    "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "hash of null", "${hash(${header.missing})}", NULL_VALUE },
	{ "hash of nothing", "${hash()}", REFUSED },
	{ "hash by an unknown algorithm", "${hash(abc,MD6)}", FAILS },
	{ "listAdd", "${listAdd(${list(a)},b)}", "[a, b]" },
	{ "listAdd in place", "${listAdd(${header.list},d)}${header.list}",
	    "[a, b, c, d][a, b, c, d]" },
	{ "listAdd to a text", "${listAdd(x)}", FAILS },
	{ "listRemove", "${listRemove(${list(a,b,a)},a)}", "[b, a]" },
	{ "listRemove of what is not there", "${listRemove(${list(a,b)},z)}", "[a, b]" },
	{ "mapAdd", "${mapAdd(${map(a,1)},b,2)}", "{a=1, b=2}" },
	{ "mapAdd in place", "${mapAdd(${header.map},k,w)}${header.map}", "{k=w}{k=w}" },
	{ "mapRemove", "${mapRemove(${map(a,1,b,2)},a)}", "{b=2}" },
	{ "mapRemove in place", "${mapRemove(${header.map},'k')}${header.map}", "{}{}" },
	{ "load", "<${load(file:known.txt)}>", "<its text>" },
	{ "load of what is not there", "${load(file:nope.txt)}", REFUSED },
	{ "load with a computed name", "${load(${header.foo})}", REFUSED },
	{ "exchange", "${exchange.pattern}", "InOnly" },
	{ "exchange.fromEndpoint is refused", "${exchange.fromEndpoint}", REFUSED },
	{ "camelContext.name", "${camelContext.name}", "hinny" },
	{ "stepId", "${stepId}", NULL_VALUE },
	{ "ref is refused", "${ref:foo}", REFUSED },
	{ "bean is refused", "${bean:foo?method=x}", REFUSED },
	{ "type is refused", "${type:java.lang.Integer.MAX_VALUE}", REFUSED },
	{ "nested quotes", "${uppercase('it is \"x\"')}", "IT IS X" },
	{ "one argument may have commas", "${uppercase('a', 'b')}", "A, B" },
	{ "blanks of one argument stay", "${quote( a )}", "\" a \"" },
	{ "blanks behind a comma stay", "${replace('b', 'X',${header.foo})}", "a Xc" },
	{ "blanks of a text to look for", "${contains(${header.foo}, b)}", "false" },
	{ "a prefix is no expression", "${join('-','${header.foo}',x)}", "${header.foo}x" },
	{ "quotes are hashed", "${hash('abc',MD5)}", "e41225f8921fffcead7a35a3ddabdeeb" },
	{ "bytes of a number", "${hash(${header.int},MD5)}", NULL_VALUE },
	{ "sum of items", "${sum('1,2', 3)}", "6" },
	{ "average of items", "${average('1,x,5')}", "3" },
	{ "nothing between nothing", "${concat(${header.missing},'x','-')}", "x" },
	{ "substring with two", "${substring(-1,-1)}", "ello Worl" },
	{ "methods of numbers", "${header.int.doubleValue}", "42.0" },
	{ "classes", "${header.foo.class.simpleName}", "String" },
	{ "a map of odd values", "${map(a,1,b)}", REFUSED },
	{ "brace in quotes", "${replace('l','}')}", "He}}o Wor}d" },
	{ "brace escaped", "${replace(l,\\})}", "He}}o Wor}d" },
	{ "comma in quotes", "${concat('a,b','c')}", "a,bc" },
	{ "escape in an argument", "${concat('a\\n','b')}", "a\nb" },
	{ "functions in functions", "${uppercase(${trim(' x ')})}", "X" },
	{ "too few arguments", "${substring()}", REFUSED },
	{ "too many arguments", "${random(1,2,3)}", REFUSED },
	{ "not closed", "${trim(a}", REFUSED },
	{ "apostrophe in text", "don't ${header.foo} it's", "don't abc it's" },
	{ "stands alone", "${header.int}", "42" },
	{ "$ and {", "$ {body} #{${header.foo}}", "$ {body} #{abc}" },
	{ "text with operators", "a == b && c > ${header.int}", "a == b && c > 42" },
	{ "empty", "", "" },
	{ "-- at the end", "${header.int}--", "41" },
	{ "++ not at the end", "${header.int}++x", "42++x" },
	{ "++ of a word", "${header.foo}++", FAILS },
	{ "++ of null", "${header.missing}++", FAILS },
	{ "elvis with a function", "${header.missing} ?: ${header.foo}", "abc" },
	{ "elvis twice", "${header.missing} ?: ${header.empty} ?: 'x'", "x" },
	{ "elvis in text", "Dear ${header.missing} ?: 'Guest' hi", "Dear 'Guest' hi" },
	{ "elvis not needed", "${header.foo} ?: 'Guest'", "abc" },
	{ "a ?: without a function is text", "ready ?: yes", "ready ?: yes" },
	{ "null safe chain", "${header.missing} ?~> ${size()}", NULL_VALUE },
	{ "chain of null", "${header.missing} ~> ${size()}", "0" },
	{ "$param", "${header.foo} ~> ${concat('<',$param)}", "<abc" },
	{ "chain leaves the body", "${header.foo} ~> ${uppercase()}/${body}", "ABC/Hello World" },
	{ "ternary with a bare function", "[${header.int == 42 ? header.foo : 'other'}]", "[abc]" },
	{ "ternary nested", "${header.int > 50 ? 'big' : ${header.int > 5 ? 'mid' : 'small'}}",
	    "mid" },
	{ "ternary with null", "${header.missing == null ? 'no' : 'yes'}", "no" },
	{ "ternary with &&", "${header.int > 5 && header.int < 9 ? 'a' : 'b'}", REFUSED },
	{ "ternary without an operator", "${header.flag ? 'a' : 'b'}", REFUSED },
	{ "ternary with an empty branch", "${header.int > 5 ? : 'b'}", REFUSED },
	{ "ternary with unknown branch", "${header.int > 5 ? yes : 'b'}", REFUSED },
	{ "iif with functions", "${iif(${header.foo} contains 'b',${header.num},x)}", "42" },
	{ "not", "${not(${header.missing})}${not(${header.foo})}", "truefalse" },
	{ "properties",
	    "${properties:app.name} ${properties:app.none:dflt} ${propertiesExist:app.name} "
	    "${propertiesExist:!app.name}",
	    "n1 dflt true false" },
	{ "properties by a header", "${properties:${header.foo}:d}", "d" },
	{ "date with zone offset", "${date-with-timezone:header.bday:GMT+2:HH:mm Z}",
	    "12:00 +0200" },
	{ "date without pattern", "${date:header.bday}", "Wed May 01 10:00:00 UTC 2024" },
	{ "date minus", "${date:header.bday-1d2h3s:yyyy-MM-dd'T'HH:mm:ss}", "2024-04-30T07:59:57" },
	{ "date of a text", "${date:header.foo:yyyy}", FAILS },
	{ "date letters", "${date-with-timezone:header.bday:UTC:EEE EEEE d MMM yy D w u a hh K S}",
	    "Wed Wednesday 1 May 24 122 18 3 AM 10 10 0" },
	{ "date with a wrong letter", "${date:now:yyyy-bb}", REFUSED },
	{ "date with an unknown command", "${date:tomorrow:yyyy}", REFUSED },
	{ "date with an unknown zone", "${date-with-timezone:now:Europe/Nowhere:yyyy}", REFUSED },
	{ "throwException", "${throwException('boom')}", FAILS },
	{ "setHeader", "[${setHeader(z,int,5)}]${header.z}", "[]5" },
	{ "setVariable", "[${setVariable(z,lit)}]${variable.z}", "[]lit" },
	{ "list and map", "${list('a','b c')} ${map(a,1,b,2)} ${size(${map(a,1)})}",
	    "[a, b c] {a=1, b=2} 1" },
	{ "distinct and reverse", "${distinct('a','b','a')} ${reverse(1,2,3)} ${sort('b,c,a')}",
	    "[a, b] [3, 2, 1] [a, b, c]" },
	{ "forEach and filter", "${forEach('a,b',${uppercase()})} ${filter('1,22,3',${body} > 2)}",
	    "[A, B] [22, 3]" },
	{ "collate", "${forEach(${list(1,2,3)},${concat(x,${body})})} ${range(2,6)}",
	    "[x1, x2, x3] [2, 3, 4, 5]" },
	{ "base64", "${base64Decode(${base64Encode('x=y')})}", "x=y" },
	{ "kindOfType",
	    "${kindOfType(${header.int})} ${kindOfType(${header.list})} ${kindOfType(12)} "
	    "${kindOfType(${null})}",
	    "number array string null" },
	{ "toJson", "${toJson(${header.map})} ${toJson(${header.list})} ${toJson(${header.int})}",
	    "{\"k\":\"v\"} [\"a\",\"b\",\"c\"] 42" },
	{ "pretty", "${pretty('{\"a\":1,\"b\":[1,2],\"c\":{\"d\":null}}')}",
	    "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t1,\n\t\t2\n\t],\n\t\"c\": {\n\t\t\"d\": "
	    "null\n\t}\n}\n" },
	{ "pretty XML", "${pretty('<a><b>1</b><c x=\"y>\"/><!-- z --></a>')}",
	    "<a>\n  <b>\n    1\n  </b>\n  <c x=\"y>\">\n  </c>\n  <!-- z -->\n</a>" },
	{ "pretty of what is no XML", "${pretty('<a><b></a>')}", "<a><b></a>" },
	{ "jsonpath of the body", "${jsonpath($.a)}", FAILS },
	{ "jsonpath that is wrong", "${jsonpath($.a[)}", REFUSED },
	{ "jsonpath with a filter", "${jsonpath(header:json,$[?(@.id == 7)].id)}", "[7]" },
	{ "jsonpath with a function in it",
	    "${jsonpath(header:json,$[?(@.id == ${header.seven})].id)}", "[7]" },
	{ "jsonpath that a function makes wrong", "${jsonpath(header:json,$.${header.empty})}",
	    FAILS },
	{ "simpleJsonpath", "${simpleJsonpath(header:json,id)}", "7" },
	{ "simpleJsonpath, missing", "${simpleJsonpath(header:json,nope)}", FAILS },
	{ "simpleJsonpath, null safe", "[${simpleJsonpath(header:json,nope?.x)}]", "[]" },
	{ "xpath on items", "${forEach(${header.list},${xpath(/a)})}", REFUSED },
	{ "env", "[${env.HINNY_SURELY_NOT_SET}]", "[]" },
	{ "unicode",
	    "${uppercase('\xC3\xBC\x62\xC3\x9F')} ${length('\xE4\xBD\xA0')} "
	    "${substring(1,0,'\xC3\xBC\xE4\xBD\xA0')}",
	    "\xC3\x9C\x42SS 3 \xE4\xBD\xA0" },
	{ "text methods",
	    "${body.toUpperCase()} ${body.indexOf('W')} ${body.replace('l','L')} ${body.split(' "
	    "')[1]} ${body.startsWith('He')}",
	    "HELLO WORLD 6 HeLLo WorLd World true" },
	{ "list methods",
	    "${header.list.contains('b')} ${header.list.get(2)} ${header.list[last]} "
	    "${header.list.isEmpty()}",
	    "true c c false" },
	{ "map methods", "${header.map.get(k)} ${header.map.keySet()} ${header.map.size}",
	    "v [k] 1" },
	{ "null safe index", "${header.list?[9]}", NULL_VALUE },
	{ "method of null", "${header.missing.length()}", NULL_VALUE },
	{ "init block",
	    "$init{\n  $a := ${header.int};\n  // note; here\n  $b := "
	    "'x;y';\n}init$\n$a-$b-${variable.a}-$c",
	    "42-x;y-42-$c" },
	{ "init block with a function",
	    "$init{\n$up ~:= ${trim()} ~> ${uppercase()};\n}init$\n[${up()}] [${up(' b ')}]",
	    "[HELLO WORLD] [B]" },
	{ "init block, raw value", "$init{\n$n := ${header.int};\n}init$\n$n", "42" },
	{ "init block that is not closed", "$init{\n$a := 1;\n", REFUSED },
	{ "init block with a wrong line", "$init{\na = 1;\n}init$\nx", REFUSED },
	{ "init block with an unknown function", "$init{\n$a := ${nosuch};\n}init$\nx", REFUSED },
	{ "init block without lines", "$init{\n}init$\nx", "x" },
	{ "resource-like text", "{{x}} stays", "{{x}} stays" },
	{ "capitalize", "${capitalize('the quick bROWN fox')}", "The Quick BROWN Fox" },
	{ "normalizeWhitespace", "${normalizeWhitespace('  x \t  y\nz ')}", "x y\nz" },
	{ "normalizeWhitespace without two blanks", "${normalizeWhitespace(a \t\tb)}", "a \t\tb" },
};

static const struct row more_predicates[] = {
	{ "newlines are blanks", "${header.int} == 42\n  &&\n${header.foo} == 'abc'", IS_TRUE },
	{ "no precedence", "${header.int} == 42 || ${header.int} == 1 && ${header.int} == 2",
	    IS_FALSE },
	{ "a lone value beside &&", "${header.flag} && ${header.int} > 5", REFUSED },
	{ "a lone value behind &&", "${header.int} > 5 && ${header.flag}", REFUSED },
	{ "number on the left", "5 < ${header.int}", REFUSED },
	{ "quoted number on the left", "'5' < ${header.int}", IS_TRUE },
	{ "===", "${header.int} === 5", REFUSED },
	{ "single &", "${header.int} == 1 & ${header.int} == 2", REFUSED },
	{ "text", "just text", REFUSED },
	{ "true", "true", IS_TRUE },
	{ "false", "false", IS_FALSE },
	{ "unclosed quote", "${header.foo} == \"x", REFUSED },
	{ "unclosed function", "${header.foo", REFUSED },
	{ "nothing on the right", "${header.foo} ==", REFUSED },
	{ "quote in the other quotes", "${header.foo} == \"a'c\"", IS_FALSE },
	{ "functions in quotes", "${header.foo} == '${header.foo}'", IS_TRUE },
	{ "starts with", "${header.title} starts with 'Camel'", IS_TRUE },
	{ "ends with", "${header.title} ends with 'Action'", IS_TRUE },
	{ "!startsWith", "${header.title} !startsWith 'Camel'", IS_FALSE },
	{ "startsWith null", "${header.missing} startsWith 'a'", IS_FALSE },
	{ "!endsWith null", "${header.missing} !endsWith 'a'", IS_TRUE },
	{ "!regex null", "${header.missing} !regex 'a'", IS_TRUE },
	{ "!range null", "${header.missing} !range '1..2'", IS_TRUE },
	{ "!~~ null", "${header.missing} !~~ 'a'", IS_TRUE },
	{ "not in", "${header.foo} not in 'a,b'", IS_TRUE },
	{ "regex that is wrong", "${header.foo} regex '['", REFUSED },
	{ "regex of a header", "${header.num} regex ${header.num}", IS_TRUE },
	{ "regex with Java's class", "${header.foo} regex '\\p{Lower}+'", IS_TRUE },
	{ "regex with an intersection", "${header.foo} regex '[a-z&&[^b]]+'", IS_FALSE },
	{ "regex with an intersection that matches", "${header.foo} regex '[a-z&&[^x]]+'",
	    IS_TRUE },
	{ "regex that explodes", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' regex '(a+)+b?!!'",
	    FAILS },
	{ "range of text", "${header.foo} range '1..5'", IS_FALSE },
	{ "range that is none", "${header.foo} range '1-5'", REFUSED },
	{ "is String", "${header.foo} is 'String'", IS_TRUE },
	{ "is a full name", "${header.foo} is 'java.lang.String'", IS_TRUE },
	{ "!is", "${header.foo} !is 'java.util.Map'", IS_TRUE },
	{ "is Map", "${header.map} is 'java.util.Map'", IS_TRUE },
	{ "is unknown", "${header.foo} is 'Foo'", FAILS },
	{ "++ in a predicate", "${header.num}++ == 43", IS_TRUE },
	{ "empty", "", REFUSED },
	{ "in nothing", "${header.foo} in ''", IS_FALSE },
	{ "not of a comparison", "${not(${header.int} > 50)}", IS_TRUE },
	{ "init block", "$init{\n$a := ${header.int};\n}init$\n$a > 5 && $a < 50", IS_TRUE },
	{ "big numbers", "12345678901234567890 > 1", REFUSED },
	{ "a date and a number", "${header.bday} > 5", IS_TRUE },
};

static void
test_null_body(void **state)
{
	static const struct row rows[] = {
		{ "", "${length()}", NULL_VALUE },
		{ "", "${uppercase()}", NULL_VALUE },
		{ "", "${trim()}", NULL_VALUE },
		{ "", "${substring(1)}", NULL_VALUE },
		{ "", "${replace(a,b)}", NULL_VALUE },
		{ "", "${split(',')}", NULL_VALUE },
		{ "", "${bodyType}", NULL_VALUE },
		{ "", "${bodyOneLine}", NULL_VALUE },
		{ "", "${abs()}", NULL_VALUE },
		{ "", "${body.foo}", NULL_VALUE },
		{ "", "${size()}", "0" },
		{ "", "${kindOfType()}", "null" },
		{ "", "${mandatoryBodyAs(String)}", FAILS },
		{ "", "${bodyAs(String)}", NULL_VALUE },
	};
	struct lang_case lc;
	(void)state;
	lang_case_init(&lc);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(
		    lang_case_run(&lc, "simple", rows[i].text, false), rows[i].expected);
	assert_string_equal(lang_case_run(&lc, "simple", "${body}", true), IS_FALSE);
	assert_string_equal(lang_case_run(&lc, "simple", "${body} == ''", true), IS_FALSE);
	lang_case_fini(&lc);
}

/* Texts of errors: column and words. */
static const struct error_row {
	const char *label, *text;
	bool predicate;
	const char *expected;
} errors[] = {
	{ "unclosed function", "a ${header.b", false,
	    "3: expected symbol functionEnd but was eol\n" },
	{ "unclosed double quote", "${header.a} == \"x", true,
	    "16: expected symbol doubleQuote but was eol\n" },
	{ "unclosed single quote", "${header.a} == 'x", true,
	    "16: expected symbol singleQuote but was eol\n" },
	{ "bad operator", "${header.a} === 5", true, "13: Unexpected token =\n" },
	{ "no blank", "${header.n}==7", true, "12: Unexpected token =\n" },
	{ "single and", "${header.a} == 1 & ${header.b} == 2", true, "18: Unexpected token &\n" },
	{ "blank", "${ header.a }", false, "3: Unknown function:  header.a \n" },
	{ "text", "just text", true, "1: Unexpected token j\n" },
	{ "no such function", "x ${nosuch} y", false, "5: Unknown function: nosuch\n" },
	{ "right side", "${header.a} == b", true,
	    "16: Binary operator == does not support token b: quote it when it is text\n" },
	{ "body", "${bodyy}", false, "3: Valid syntax: ${body.OGNL} was: bodyy\n" },
	{ "refused by name", "${ref:x}", false,
	    "3: function ref:x is not available (there are no beans to look up: use "
	    "${properties:NAME} or ${variable.NAME})\n" },
	{ "without parentheses", "${isEmpty}", false, "3: Unknown function: isEmpty\n" },
};

static void
check_error(void **state)
{
	const struct error_row *r = *state;
	struct lang_case lc;
	lang_case_init(&lc);
	assert_string_equal(lang_case_run(&lc, "simple", r->text, r->predicate), REFUSED);
	assert_string_equal(lc.c.errors, r->expected);
	lang_case_fini(&lc);
}

/* ---- cases from the field ---- */

static char *
next_field(char **line)
{
	char *field = *line, *tab = strchr(field, '\t');
	if (tab != NULL)
		*tab++ = '\0';
	*line = tab != NULL ? tab : field + strlen(field);
	return field;
}

static void
run_case(char *line)
{
	struct lang_case lc;
	lang_case_init(&lc);
	bool predicate = next_field(&line)[0] == 'P';
	char *text = next_field(&line), *headers = next_field(&line), *body = next_field(&line),
	     *expected = next_field(&line);
	for (char *save, *pair = strtok_r(headers, ",", &save); pair != NULL;
	     pair = strtok_r(NULL, ",", &save)) {
		char *value = strchr(pair, '=');
		assert_non_null(value);
		*value++ = '\0';
		lang_case_header(&lc, pair, simple_case_text(&lc, value));
	}
	lang_case_body(&lc, body[0] != '\0' ? body : NULL);
	const char *got = lang_case_run(&lc, "simple", text, predicate);
	if (strcmp(got, expected) != 0)
		fail_msg("%s: expected %s, got %s", text, expected, got);
	lang_case_fini(&lc);
}

static void
test_field_cases(void **state)
{
	char name[4096], line[4096];
	const char *dir = getenv("HINNY_SRCDIR");
	size_t n = 0;
	(void)state;
	(void)snprintf(
	    name, sizeof name, "%s/tests/unit/simple_cases.tsv", dir != NULL ? dir : ".");
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "kind\t", 5) == 0 || line[0] == '\0')
			continue;
		run_case(line);
		n++;
	}
	(void)fclose(f);
	assert_true(n > 20);
}

int
main(void)
{
	setenv("TZ", "UTC", 1);
	UNIT_TABLE("spec", spec_expressions, check_expression);
	UNIT_TABLE("spec predicate", spec_predicates, check_predicate);
	UNIT_TABLE("expression", more_expressions, check_expression);
	UNIT_TABLE("predicate", more_predicates, check_predicate);
	UNIT_TABLE("error", errors, check_error);
	UNIT_CASE(test_null_body);
	UNIT_CASE(test_field_cases);
	return unit_run("simple");
}
