/*
 * Messages that kill. A step and body that used up their tries are refused for a while untried, so that a client that repeats a poison document costs two
 * processes, not a stream of them. A small table keyed by a hash of step and body.
 */
#include "core/ipc/ipc_priv.h"

static uint64_t
hash_bytes(uint64_t h, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3ull;
	return h;
}

uint64_t
poison_key(const struct ipc_call *c)
{
	uint64_t h = 0xcbf29ce484222325ull;
	uint64_t what = c->first != NULL ? c->first->index : (uint64_t)c->exprs[0]->slot << 32 | 1u << 31;
	h = hash_bytes(h, (struct str){ (const char *)&what, sizeof what });
	if (value_has_text(&c->ex->body))
		h = hash_bytes(h, c->ex->body.u.s);
	return h != 0 ? h : 1;
}

static bool
poison_fresh(const struct ipc *ipc, const struct ipc_poison *p)
{
	return p->key != 0 && monotime_ms_between(p->at, loop_now(ipc->opt.lp)) < ipc->opt.refuse_ms;
}

uint32_t
poison_kills(struct ipc *ipc, uint64_t key)
{
	for (size_t i = 0; i < IPC_POISON_SLOTS; i++)
		if (ipc->poison[i].key == key && poison_fresh(ipc, &ipc->poison[i]))
			return ipc->poison[i].kills;
	return 0;
}

void
poison_note(struct ipc *ipc, uint64_t key)
{
	struct ipc_poison *slot = &ipc->poison[0];
	for (size_t i = 0; i < IPC_POISON_SLOTS; i++) {
		struct ipc_poison *p = &ipc->poison[i];
		if (p->key == key) {
			slot = p;
			break;
		}
		if (p->at.ns < slot->at.ns) /* the oldest gives way; free ones are oldest */
			slot = p;
	}
	if (slot->key != key || !poison_fresh(ipc, slot))
		*slot = (struct ipc_poison){ .key = key };
	slot->kills++;
	ipc->poisons++;
	slot->at = loop_now(ipc->opt.lp);
}

void
ipc_note_poison(struct ipc *ipc, uint64_t key)
{
	poison_note(ipc, key);
}
