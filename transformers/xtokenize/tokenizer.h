/*
 * Cuts the elements that a path names out of a document, as it is read: the items are slices of the
 * text itself, so what they hold is not written anew. Each item is handed over before the next one
 * is looked for, so that a caller may send them on as a stream. With a group, so many elements are
 * one item: one behind the other, in mode w within ancestors that they share.
 */
#ifndef HINNY_TRANSFORMERS_XTOKENIZE_TOKENIZER_H
#define HINNY_TRANSFORMERS_XTOKENIZE_TOKENIZER_H

#include "core/lang/xtokenize.h"
#include "transformers/xml/xml.h"

/* The item lies in the tokenizer's buffer, until the next one. False: no more are wanted. */
typedef bool tokenizer_item_fn(void *arg, struct str item);

/* HINNY_EINVAL: not well-formed; HINNY_ELIMIT: too large or too deep. Items that came before an
 * error have been handed over. */
enum hinny_rc tokenizer_run(struct xml *x, struct xml_text text, const struct xtokenize_path *path,
    const struct xtokenize_conf *conf, tokenizer_item_fn *item, void *arg, struct hinny_error *err);

#endif
