/* Control frames from either side: what decodes encodes to the same bytes again. The first byte
 * says which side sent. */
#include "core/ipc/control.h"

#include "core/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_reader r;
	struct control_message m;
	struct hinny_error err;
	struct buf again;

	if (size == 0)
		return 0;
	enum control_side side = (data[0] & 1) != 0 ? CONTROL_SUPERVISOR : CONTROL_WORKER;
	struct str batch = { (const char *)data + 1, size - 1 };
	for (;;) {
		struct str frame = batch;
		if (!frame_next(&batch, &r))
			break;
		frame.n = (size_t)(r.end - frame.p);
		if (control_decode(&r, side, &m, &err) != HINNY_OK)
			continue;
		buf_init(&again, 0);
		ASSERT(control_encode(&again, &m) == HINNY_OK);
		ASSERT(again.n == frame.n);
		buf_fini(&again);
	}
	return 0;
}
