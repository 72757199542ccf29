/* transformers/xml/jail: what is left to a process behind it. Each case closes a jail in a child of
 * its own. */
#include "transformers/jail/jail.h"

#include "transformers/xml/encodings.h"
#include "transformers/xml/xml.h"

#include "tests/lib/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libxml/encoding.h>
#include <libxml/parser.h>

static int pipe_in, pipe_out;

/* Each returns -1 with errno, or something else. */
static long
open_file(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static long
make_file(void)
{
	return open("/tmp/hinny-never", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static long
open_by_old_call(void)
{
	return syscall(SYS_open, "/etc/passwd", O_RDONLY);
}

static long
open_by_openat2(void)
{
	uint64_t how[3] = { O_RDONLY, 0, 0 };

	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", how, sizeof how);
}

static long
remove_file(void)
{
	return unlink("/tmp/hinny-never");
}

static long
rename_file(void)
{
	return rename("/tmp/hinny-never", "/tmp/hinny-never-2");
}

static long
inet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long
inet6_socket(void)
{
	return socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static long
netlink_socket(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
}

static long
fork_process(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long
old_fork(void)
{
	long pid = syscall(SYS_fork);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long
exec_program(void)
{
	char *argv[] = { NULL };

	return execve("/bin/true", argv, argv);
}

static long
trace_process(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long
signal_parent(void)
{
	return kill(getppid(), 0);
}

static long
map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static long
allow_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static long
change_mode(void)
{
	return chmod("/tmp", 0777);
}

static long
look_at_file(void)
{
	struct stat st;

	return stat("/etc/passwd", &st);
}

static long
io_uring(void)
{
	char params[256] = { 0 };

	return syscall(SYS_io_uring_setup, 1, params);
}

static long
load_module(void)
{
	return syscall(SYS_finit_module, -1, "", 0);
}

static long
read_memory(void)
{
	return syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0);
}

/* ---- what must go on ---- */

static long
use_memory(void)
{
	enum { SIZE = 64 << 20 };
	char *p = malloc(SIZE);

	if (!p)
		return -1;
	memset(p, 1, SIZE);
	free(p);
	return 0;
}

static long
use_pipe(void)
{
	char c = 'x';

	return write(pipe_out, &c, 1) == 1 && read(pipe_in, &c, 1) == 1 ? 0 : -1;
}

static long
connect_unix(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/nonexistent/socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1)
		return -1;
	/* allowed: there is nobody there */
	return connect(fd, (struct sockaddr *)&to, sizeof to) == -1 &&
		(errno == ENOENT || errno == EACCES)
	    ? 0
	    : -1;
}

static long
make_memory_file(void)
{
	int fd = memfd_create("spool", MFD_CLOEXEC);
	struct stat st;

	return fd != -1 && ftruncate(fd, 4096) == 0 && fstat(fd, &st) == 0 && st.st_size == 4096
	    ? 0
	    : -1;
}

static void *
thread_main(void *arg)
{
	return arg;
}

static long
start_thread(void)
{
	pthread_t t;
	int rc = pthread_create(&t, NULL, thread_main, NULL);

	if (rc == 0)
		return pthread_join(t, NULL);
	errno = rc;
	return -1;
}

static bool
parses(const char *declared, const char *bytes)
{
	char text[256];
	int n = snprintf(
	    text, sizeof text, "<?xml version='1.0' encoding='%s'?><a>%s</a>", declared, bytes);
	xmlDocPtr doc = xmlReadMemory(text, n, NULL, NULL, XML_PARSE_NOERROR | XML_PARSE_NONET);

	xmlFreeDoc(doc);
	return doc != NULL;
}

static long
read_encodings(void)
{
	static const char *const names[] = { "ISO-8859-2", "ISO-8859-15", "windows-1252",
		"windows-1258", "KOI8-R", "Shift_JIS", "EUC-JP", "GBK", "GB2312", "Big5",
		"ISO-8859-1" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!parses(names[i], i >= 5 && i < 10 ? "\xb0\xa1" : "\xe4"))
			return -1;
	return 0;
}

/* ---- the cases ---- */

struct row {
	const char *label;
	long (*call)(void);
	bool works;
};

static int
in_jail(const struct row *r)
{
	struct hinny_error err = { 0 };
	struct xml_encodings *es = xml_encodings_open();
	long rc;

	if (jail_close(&err) != HINNY_OK) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	errno = 0;
	rc = r->call();
	if (r->works)
		return rc == -1;
	xml_encodings_close(es);
	return !(rc == -1 && (errno == EPERM || errno == ENOSYS || errno == EACCES));
}

static void
check(void **state)
{
	const struct row *r = *state;
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(in_jail(r));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The sanitizers' own needs widen the jail: these rows say nothing there. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const struct row denied[] = {
	{ "a thread", start_thread, false },
	{ "opening a file", open_file, false },
	{ "making a file", make_file, false },
	{ "looking at a file", look_at_file, false },
	{ "a process", fork_process, false },
	{ "tracing", trace_process, false },
	{ "signals to others", signal_parent, false },
	{ "mapping code", map_code, false },
	{ "making memory code", allow_code, false },
};
static const struct row always_denied[] = {
	{ "opening by the old call", open_by_old_call, false },
	{ "opening by the new call", open_by_openat2, false },
	{ "removing a file", remove_file, false },
	{ "renaming a file", rename_file, false },
	{ "changing a mode", change_mode, false },
	{ "an IPv4 socket", inet_socket, false },
	{ "an IPv6 socket", inet6_socket, false },
	{ "a netlink socket", netlink_socket, false },
	{ "a process by the old call", old_fork, false },
	{ "a program", exec_program, false },
	{ "io_uring", io_uring, false },
	{ "a kernel module", load_module, false },
	{ "memory of others", read_memory, false },
};
static const struct row works[] = {
	{ "memory", use_memory, true },
	{ "descriptors that are open", use_pipe, true },
	{ "unix sockets", connect_unix, true },
	{ "memory files", make_memory_file, true },
	{ "character sets", read_encodings, true },
};
int
main(void)
{
	int fds[2];

	if (pipe(fds) == -1)
		return 1;
	pipe_in = fds[0];
	pipe_out = fds[1];
	if (!SANITIZED)
		UNIT_TABLE("denied", denied, check);
	UNIT_TABLE("denied", always_denied, check);
	UNIT_TABLE("works", works, check);
	return unit_run("jail");
}
