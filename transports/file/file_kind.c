/* The file worker as a kind: what it makes at its start, how it ends. */
#include "transports/file/file.h"

#include "core/base/mem.h"
#include "transports/file/file_charset.h"
#include "transports/file/file_disk.h"
#include "transports/file/file_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum hinny_rc
kind_init(struct worker *wk, struct hinny_error *err)
{
	struct file_state *fs = mem_zalloc(sizeof *fs);

	worker_set_data(wk, fs);
	fs->wk = wk;
	hash_init(&fs->writing, false);
	if (getcwd(fs->cwd, sizeof fs->cwd) == NULL)
		return hinny_error_errno(err, errno, "cannot find the working folder");
	return HINNY_OK;
}

static void
kind_fini(struct worker *wk)
{
	struct file_state *fs = file_state_of(wk);

	if (fs == NULL)
		return;
	fs->ended = true;
	hash_fini(&fs->writing);
	hash_init(&fs->writing, false); /* for writes that end when the loop does */
	loop_free_later(worker_loop(wk), fs);
}

static enum hinny_rc
file_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	const struct file_conf *conf = ep->conf;
	(void)wk;

	if (conf->charset != NULL && !charset_is_known(conf->charset))
		return hinny_error_set(
		    err, HINNY_EINVAL, "charset: \"%s\" is no character set that is known", conf->charset);
	return HINNY_OK;
}

/* Endpoints of the program are consumers that were started, those of run time are received from. */
static void
file_release(struct worker *wk, struct endpoint *ep)
{
	if (ep->index == UINT32_MAX)
		file_receive_release(ep);
	else
		file_stop(wk, ep);
}

static const struct component_ops file_ops = {
	.scheme = "file",
	.prepare = file_prepare,
	.start = file_start,
	.stop = file_stop,
	.send = file_send,
	.receive = file_receive,
	.release = file_release,
};

static const struct component_ops *const components[] = { &file_ops, NULL };

const struct worker_kind file_kind = {
	.kind = "file",
	.components = components,
	.init = kind_init,
	.fini = kind_fini,
};
