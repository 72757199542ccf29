/*
 * The result of an operation that may fail for reasons outside the program: input, a peer, the
 * system. Bugs are asserts (assert.h); what cannot go on is fatal() (log.h).
 */
#ifndef HINNY_BASE_ERROR_H
#define HINNY_BASE_ERROR_H

enum hinny_rc {
	HINNY_OK = 0,
	HINNY_EINVAL,   /* the input is wrong */
	HINNY_ELIMIT,   /* a bound would be passed: size, depth, count */
	HINNY_EIO,      /* the system or a library failed */
	HINNY_ETIMEOUT, /* a deadline passed */
	HINNY_ECLOSED,  /* the peer or object is gone */
	HINNY_EAGAIN,   /* cannot go on now; try again when told */
	HINNY_ENOENT,   /* no such thing */
	HINNY_EEXIST,   /* exists already */
	HINNY_EPROTO,   /* a peer broke the protocol */
	HINNY_EREFUSED, /* not allowed */
};

#define HINNY_ERROR_TEXT 1024

/*
 * Filled where the failure is seen. `text` is lower case, has no full stop, names what was
 * attempted on what, reason last.
 */
struct hinny_error {
	enum hinny_rc rc;
	char text[HINNY_ERROR_TEXT];
};

/*
 * Sets *err (which may be NULL) and returns rc. A longer text is cut. The arguments may point into
 * *err, so that a text can be wrapped.
 */
enum hinny_rc hinny_error_set(struct hinny_error *err, enum hinny_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * As above, with ": " and the text of the system error errnum at the end. The code is that of the
 * kind of error (ENOENT: HINNY_ENOENT, EACCES: HINNY_EREFUSED …), mostly HINNY_EIO.
 */
enum hinny_rc hinny_error_errno(struct hinny_error *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
