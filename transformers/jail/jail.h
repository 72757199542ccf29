/*
 * The jail of hinny-xform and hinny-jq: what a message that takes over the process can still do. It can use the
 * memory and descriptors that it has, make memory files, and connect to unix sockets (peers are
 * dialled as they come up); it cannot open, make, change or remove a file, reach a network, start or
 * trace a process or a thread, or gain a privilege. Whatever is not on the list fails with EPERM.
 *
 * seccomp for all threads, and below it Landlock, where the kernel has it, with no
 * rule at all. Everything that is read later (stylesheets, what document() may ask for, character
 * sets) has been read before: transformers/xml/files.h, encodings.h.
 */
#ifndef HINNY_TRANSFORMERS_JAIL_JAIL_H
#define HINNY_TRANSFORMERS_JAIL_JAIL_H

#include "core/base/error.h"

/* Closes the jail for the whole process, for good. HINNY_EIO: the kernel refused; without a jail
 * the process must not serve. */
enum hinny_rc jail_close(struct hinny_error *err);

/* Denies all access to files by name, for threads made from now on and this one. HINNY_ENOENT: the
 * kernel has no Landlock (that is no fault). */
enum hinny_rc landlock_close(struct hinny_error *err);

#endif
