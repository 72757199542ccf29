/*
 * For tests alone: functions with which a stylesheet makes its process die or hang, so that a
 * poison document can be tested. They exist only in a process whose environment has
 * HINNY_TEST_POISON=1, in the namespace "urn:hinny:test": abort(), crash(), exit(), hang(),
 * memory().
 */
#ifndef HINNY_TRANSFORMERS_XSLT_POISON_H
#define HINNY_TRANSFORMERS_XSLT_POISON_H

/* Before the first stylesheet is compiled. Does nothing unless the environment asks for it. */
void xslt_poison_register(void);

#endif
