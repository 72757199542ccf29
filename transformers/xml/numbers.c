/*
 * See numbers.h. A number becomes text in three places: when libxslt or we ask for the text of a
 * result (xmlXPathCastToString and xmlXPathConvertString, which stand here in front of the
 * library's), and when a function of XPath wants text and is given a number (its argument is
 * replaced before the library's function sees it).
 */
#include "transformers/xml/numbers.h"

#include "core/base/assert.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xpathInternals.h>

/* Digits that always tell a double from its neighbours, and those that mostly do. */
enum { DIGITS_MOST = 17, DIGITS_FEW = 15 };
/* Integers below it have all their digits. */
#define EXACT 1e15

/* "1.25e+09" in the fewest digits that read back as d. */
static void
shortest(double d, char *text, size_t size)
{
	for (int n = DIGITS_FEW; n <= DIGITS_MOST; n++) {
		(void)snprintf(text, size, "%.*e", n - 1, d); /* fits */
		if (strtod(text, NULL) == d)
			return;
	}
}

size_t
xml_number_text(double d, char text[XML_NUMBER_TEXT])
{
	char sci[32], digits[DIGITS_MOST + 1];
	size_t n = 0, digits_n = 0;

	if (isnan(d) || isinf(d) || d == 0)
		return (size_t)sprintf(text, "%s",
		    isnan(d)     ? "NaN"
			: d == 0 ? "0"
			: d > 0  ? "Infinity"
				 : "-Infinity");
	if (fabs(d) < EXACT && d == (double)(long long)d)
		return (size_t)sprintf(text, "%lld", (long long)d);
	shortest(fabs(d), sci, sizeof sci);
	for (const char *p = sci; *p != 'e'; p++) {
		if (*p != '.')
			digits[digits_n++] = *p;
	}
	while (digits_n > 1 && digits[digits_n - 1] == '0')
		digits_n--;
	int point = atoi(strchr(sci, 'e') + 1) + 1; /* digits in front of it */
	if (d < 0)
		text[n++] = '-';
	if (point <= 0)
		text[n++] = '0';
	for (int i = 0; i < point; i++)
		text[n++] = (size_t)i < digits_n ? digits[i] : '0';
	if (point < (int)digits_n) {
		text[n++] = '.';
		for (int i = point; i < (int)digits_n; i++)
			text[n++] = i < 0 ? '0' : digits[i];
	}
	text[n] = '\0';
	return n;
}

/* ---- results ---- */

xmlChar *
xmlXPathCastToString(xmlXPathObjectPtr o)
{
	static xmlChar *(*library)(xmlXPathObjectPtr o);
	char text[XML_NUMBER_TEXT];

	if (o != NULL && o->type == XPATH_NUMBER) {
		(void)xml_number_text(o->floatval, text);
		return xmlStrdup(BAD_CAST text);
	}
	if (library == NULL)
		*(void **)&library = dlsym(RTLD_NEXT, "xmlXPathCastToString");
	ASSERT(library != NULL);
	return library(o);
}

xmlXPathObjectPtr
xmlXPathConvertString(xmlXPathObjectPtr o)
{
	static xmlXPathObjectPtr (*library)(xmlXPathObjectPtr o);

	if (o != NULL && o->type == XPATH_NUMBER) {
		xmlXPathObjectPtr s = xmlXPathWrapString(xmlXPathCastToString(o));
		xmlXPathFreeObject(o);
		return s;
	}
	if (library == NULL)
		*(void **)&library = dlsym(RTLD_NEXT, "xmlXPathConvertString");
	ASSERT(library != NULL);
	return library(o);
}

/* ---- arguments ---- */

/* Of the n arguments on top of the stack the first `texts` become text where they are numbers. */
static void
make_text(xmlXPathParserContextPtr pc, int n, int texts)
{
	if (n > pc->valueNr)
		return; /* the library's function says so */
	for (int i = pc->valueNr - n; i < pc->valueNr && texts-- > 0; i++) {
		xmlXPathObjectPtr o = pc->valueTab[i];
		if (o == NULL || o->type != XPATH_NUMBER)
			continue;
		pc->valueTab[i] = xmlXPathConvertString(o);
		if (i == pc->valueNr - 1)
			pc->value = pc->valueTab[i];
	}
}

#define WITH_TEXT(name, function, texts)                                                           \
	static void name(xmlXPathParserContextPtr pc, int n)                                       \
	{                                                                                          \
		make_text(pc, n, texts);                                                           \
		function(pc, n);                                                                   \
	}

WITH_TEXT(call_string, xmlXPathStringFunction, n)
WITH_TEXT(call_concat, xmlXPathConcatFunction, n)
WITH_TEXT(call_contains, xmlXPathContainsFunction, n)
WITH_TEXT(call_starts_with, xmlXPathStartsWithFunction, n)
WITH_TEXT(call_substring, xmlXPathSubstringFunction, 1)
WITH_TEXT(call_substring_before, xmlXPathSubstringBeforeFunction, n)
WITH_TEXT(call_substring_after, xmlXPathSubstringAfterFunction, n)
WITH_TEXT(call_string_length, xmlXPathStringLengthFunction, n)
WITH_TEXT(call_normalize, xmlXPathNormalizeFunction, n)
WITH_TEXT(call_translate, xmlXPathTranslateFunction, n)

xmlXPathFunction
xml_number_function(const xmlChar *name, const xmlChar *uri)
{
	static const struct {
		const char *name;
		xmlXPathFunction call;
	} functions[] = {
		{ "string", call_string },
		{ "concat", call_concat },
		{ "contains", call_contains },
		{ "starts-with", call_starts_with },
		{ "substring", call_substring },
		{ "substring-before", call_substring_before },
		{ "substring-after", call_substring_after },
		{ "string-length", call_string_length },
		{ "normalize-space", call_normalize },
		{ "translate", call_translate },
	};

	for (size_t i = 0; uri == NULL && i < ARRAY_LEN(functions); i++) {
		if (strcmp((const char *)name, functions[i].name) == 0)
			return functions[i].call;
	}
	return NULL;
}
