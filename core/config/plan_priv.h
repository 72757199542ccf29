/* What the planners share: plan.c (access, owners, remotes, kinds), plan_calls.c (runs of steps in
 * one call), plan_streams.c (bodies that are used once), plan_order.c (messages of one source that
 * overlap). */
#ifndef HINNY_CONFIG_PLAN_PRIV_H
#define HINNY_CONFIG_PLAN_PRIV_H

#include "core/config/compile_priv.h"

/* Calls fn for the expressions that the step's own run may evaluate, in order: its own, those of
 * its options, those of its children (when, doCatch). */
typedef void plan_expression_fn(void *arg, struct expression *e);
void plan_each_expression(const struct step *st, plan_expression_fn *fn, void *arg);
/* Calls fn for the children that options hold: when, otherwise, doCatch, redeliveryPolicy. */
typedef void plan_child_fn(void *arg, struct step *child);
void plan_each_child(const struct step *st, plan_child_fn *fn, void *arg);
/* The member of an option, NULL when the EIP has no such option of that type. */
void *plan_option(const struct step *st, const char *name, enum option_type type);
/* Where the step sends to: of its endpoint, or of the scheme that its uri begins with; NULL:
 * nowhere, or only the message knows (*dynamic). */
const struct component_desc *plan_component(const struct step *st, bool *dynamic);

#endif
