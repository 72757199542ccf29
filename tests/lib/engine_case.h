/* What a case begins and ends with that runs routes on the engine of engine_fake.h. */
#ifndef HINNY_TESTS_LIB_ENGINE_CASE_H
#define HINNY_TESTS_LIB_ENGINE_CASE_H

#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"

/* The program (build_init) has been made. Watches some headers and properties (case_watched). */
void case_begin(struct fake *f, struct build *b);
/* Both, with room for what steps share (case_share). */
void case_begin_shared(struct fake *f, struct build *b);
/* No exchange is left and nothing waits; frees the program too. */
void case_end(struct fake *f);

/* One exchange through the route, with all that it asks for answered until it is done. */
void case_run(struct fake *f, const struct route *route, const char *body);
/* The same; it asks for nothing. */
void case_run_at_once(struct fake *f, const struct route *route, const char *body);
/* case_begin, and the step as the one step of a route. */
void case_run_step(struct fake *f, struct build *b, struct step *st, const char *body);

/* Gives the step its shared state, of that many bytes. */
struct step *case_share(struct fake *f, struct step *st, uint32_t size);
/* Variables "a" and "b" become headers, so that fake_seen shows them. */
build_run_fn case_show_variables;
/* Notes the body and the pattern in f->noted, and sets the header "t". */
build_run_fn case_note;
/* The value of the property `arg`, or null. */
build_fn case_property;

#endif
