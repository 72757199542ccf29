/* Streams: thin wrappers that hold the rules of stream.h. */
#include "core/model/stream.h"

#include "core/base/assert.h"

void
stream_attach(struct stream *s, struct stream_sink *sink)
{
	ASSERT(s->sink == NULL && sink != NULL);
	s->sink = sink;
	s->ops->attach(s);
}

void
stream_pause(struct stream *s)
{
	if (s->paused)
		return;
	s->paused = true;
	s->ops->pause(s);
}

void
stream_resume(struct stream *s)
{
	if (!s->paused)
		return;
	s->paused = false;
	s->ops->resume(s);
}

void
stream_cancel(struct stream *s)
{
	s->ops->cancel(s);
}
