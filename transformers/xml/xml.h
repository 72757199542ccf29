/*
 * What the XML transformers share in hinny-xform's process: libxml2 set up once, documents parsed
 * within limits, error texts gathered.
 *
 * Parser context, dictionary and document are made for each message: a parser context that is
 * reused keeps every name that it has ever seen, which is a leak that a client controls. What is
 * compiled before READY (stylesheets, expressions, schemas) is read-only afterwards.
 *
 * libxml2 gets no file and no network by itself: its input callbacks and entity loader are replaced
 * by ours (files.h), a document's DTD is never loaded and its entities are never expanded.
 */
#ifndef HINNY_TRANSFORMERS_XML_H
#define HINNY_TRANSFORMERS_XML_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/model/exchange.h"
#include "transformers/xml/files.h"

#include <stdbool.h>
#include <stdint.h>

#include <libxml/tree.h>

struct _xmlXPathContext;

/* Does the build check what only a bug can bring about, at a price? */
#if defined __SANITIZE_ADDRESS__ || defined HINNY_DEVELOPER
enum { XML_DEBUG = 1 };
#else
enum { XML_DEBUG = 0 };
#endif

struct xml_limits {
	uint64_t max_size;   /* bytes of a document */
	int64_t max_depth;   /* of its elements */
	uint64_t max_output; /* bytes of a result; 0: no bound */
};

/* What libxml2 and libxslt said since xml_errors_clear(). */
struct xml_errors {
	unsigned n;       /* errors; warnings do not count */
	int line, column; /* of the first error, 0: unknown */
	char file[256];   /* of the first error, when it was one of ours; else empty */
	char first[HINNY_ERROR_TEXT -
	    300];        /* text of the first error, without line end; empty: none */
	struct buf text; /* what libxslt printed: errors, and the texts of xsl:message; bounded */
};

/* The document of the exchange at work, so that several expressions of one call parse once. */
struct xml_cache {
	const struct exchange *ex; /* NULL: nothing kept */
	const char *p;
	size_t n;
	int doctype; /* enum xml_doctype */
	xmlDocPtr doc;
	struct xml_cache_ref *ref; /* in the exchange's arena */
};

struct xml {
	struct xml_limits limits;
	struct xml_files files;
	struct xml_errors errors;
	struct xml_cache cache;
	struct buf in;  /* the text of a small document while it is parsed */
	struct buf out; /* results are serialised here, and copied to where they go */
	struct _xmlXPathContext
	    *xpath;             /* for lone expressions: holds nothing of a message between two */
	struct exchange *ex;    /* of the evaluation that runs: for variables and functions */
	const void *expression; /* …and what is evaluated: the language's own */
	void (*on_large)(void *arg); /* may be NULL */
	void *on_large_arg;
	xmlDocPtr empty;
	struct xml_encodings *encodings;
};

/* How a document's DOCTYPE is met. An internal subset is refused in any case. */
enum xml_doctype {
	XML_DOCTYPE_REFUSE, /* any DOCTYPE is an error, and comments are left out (xpath: as in
	                       Camel) */
	XML_DOCTYPE_IGNORE, /* its name and external identifier are read over, nothing is loaded */
};

/* One a process: libxml2's hooks take no argument. `dirfd` is the folder of the generation's files,
 * borrowed. */
struct xml *xml_new(const struct xml_limits *limits, int dirfd);
void xml_free(struct xml *x);

/* A value as the text of a document. STRING: characters, whatever encoding the declaration names;
 * bytes (and INPUT): as declared. */
struct xml_text {
	struct str s;
	bool decoded;
};
struct xml_text xml_text_of(struct exchange *ex, const struct value *v);
/* A text for libxml2, which wants UTF-8 with a NUL: bytes that are no UTF-8 are taken for Latin-1.
 * In the arena. */
const char *xml_chars(struct arena *a, struct str s);

/*
 * Parses. The caller frees *doc with xmlFreeDoc. HINNY_EINVAL: not well-formed, or a DOCTYPE that
 * is refused; HINNY_ELIMIT: too large or too deep; the text begins with "line 1, column 5: " where
 * a position is known.
 */
enum hinny_rc xml_parse(struct xml *x, struct xml_text text, enum xml_doctype doctype,
    xmlDocPtr *doc, struct hinny_error *err);

/*
 * The document of v, parsed once for all expressions of this exchange. Borrowed: it goes with the
 * exchange, or when another one is parsed. NULL: ex->exception is set (TypeConversionException, or
 * BodyTooLargeException).
 */
xmlDocPtr xml_document(
    struct xml *x, struct exchange *ex, const struct value *v, enum xml_doctype doctype);
/* As xml_document, but the caller may change the document and frees it. */
xmlDocPtr xml_document_take(
    struct xml *x, struct exchange *ex, const struct value *v, enum xml_doctype doctype);

/* A document without a root: what an expression sees when there is no body. Of the process; not to
 * be changed. */
xmlDocPtr xml_document_empty(struct xml *x);

/* A parser context under the limits with the DOCTYPE rule, not yet run: for streaming (validator,
 * xtokenize). The caller frees it. The text must outlive it. */
struct _xmlParserCtxt *xml_parser_new(
    struct xml *x, struct xml_text text, enum xml_doctype doctype, struct hinny_error *err);
/* Why the parser's document was refused, after it ran: HINNY_OK when it was not. */
enum hinny_rc xml_parser_result(struct xml *x, struct _xmlParserCtxt *pc, struct hinny_error *err);

/* After a message whose document or result had n bytes. A large one leaves memory behind that the
 * allocator keeps: on_large says so. */
void xml_memory_trim(struct xml *x, size_t n);

void xml_errors_clear(struct xml_errors *es);
/* Notes an error by ourselves, unless there is one already. */
void xml_errors_note(struct xml_errors *es, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
