/* http: the producer. Endpoints, and the life of a request. What is sent: http_request.c; what
 * becomes of the answer: http_answer.c. */
#include "transports/http/http_send.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <stdlib.h>

enum { SENDS_KEPT = 256 };

/* ---- endpoints ---- */

static char *
encode_path(struct str path)
{
	struct buf out;

	buf_init(&out, 0);
	(void)uri_put_path(&out, path); /* without bound: cannot fail */
	char *s = mem_strndup(out.n > 0 ? out.p : "", out.n);
	buf_fini(&out);
	return s;
}

static char *
basic(const char *user, const char *password)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct buf in, out;

	buf_init(&in, 0);
	buf_init(&out, 0);
	(void)buf_printf(&in, "%s:%s", user, password); /* without bound: cannot fail */
	(void)buf_add(&out, "Basic ", 6);
	for (size_t i = 0; i < in.n; i += 3) {
		unsigned v = (unsigned char)in.p[i] << 16;
		v |= i + 1 < in.n ? (unsigned)(unsigned char)in.p[i + 1] << 8 : 0;
		v |= i + 2 < in.n ? (unsigned char)in.p[i + 2] : 0;
		(void)buf_add_char(&out, digits[v >> 18]);
		(void)buf_add_char(&out, digits[v >> 12 & 63]);
		(void)buf_add_char(&out, i + 1 < in.n ? digits[v >> 6 & 63] : '=');
		(void)buf_add_char(&out, i + 2 < in.n ? digits[v & 63] : '=');
	}
	char *s = mem_strndup(out.p, out.n);
	buf_fini(&in);
	buf_fini(&out);
	return s;
}

static char *
make_authorization(const struct http_conf *conf)
{
	struct buf out;

	if (conf->auth_method == HTTP_AUTH_BASIC)
		return basic(conf->auth_username, conf->auth_password);
	if (conf->auth_method != HTTP_AUTH_BEARER)
		return NULL;
	buf_init(&out, 0);
	(void)buf_printf(&out, "Bearer %s", conf->auth_token); /* without bound: cannot fail */
	char *s = mem_strndup(out.p, out.n);
	buf_fini(&out);
	return s;
}

static enum hinny_rc
check_text(const char *option, const char *text, struct hinny_error *err)
{
	if (text == NULL || http_is_value(str_of(text)))
		return HINNY_OK;
	return hinny_error_set(err, HINNY_EINVAL, "%s has a control character", option);
}

static enum hinny_rc
prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	const struct http_conf *conf = ep->conf;
	struct http_state *hs = http_state_of(wk);
	struct timeouts *ts = &hs->io.timeouts;
	struct uri u;

	enum hinny_rc rc = uri_parse(str_of(ep->uri), &u, err);
	if (rc == HINNY_OK && u.tls)
		rc = hinny_error_set(err, HINNY_EINVAL,
		    "\"https:\" needs hinny-https, which is not in this release");
	if (rc == HINNY_OK)
		rc = check_text("customHostHeader", conf->custom_host, err);
	if (rc == HINNY_OK)
		rc = check_text("userAgent", conf->user_agent, err);
	if (rc != HINNY_OK)
		return rc;
	struct http_target *t = MEM_NEW(struct http_target);
	t->origin = http_origin_get(&hs->client, u.host, u.port);
	t->authority = mem_strndup(u.authority.p, u.authority.n);
	t->path = encode_path(u.path);
	t->authorization = make_authorization(conf);
	t->ok_is_2xx = conf->ok_status == NULL || strcmp(conf->ok_status, "200-299") == 0;
	t->q_connect =
	    conf->connect_timeout > 0 ? timeouts_queue(ts, conf->connect_timeout) : hs->q_connect;
	t->q_wait = conf->connection_request_timeout > 0
	    ? timeouts_queue(ts, conf->connection_request_timeout)
	    : t->q_connect;
	t->q_answer =
	    conf->response_timeout > 0 ? timeouts_queue(ts, conf->response_timeout) : hs->q_answer;
	t->q_idle = conf->so_timeout > 0 ? timeouts_queue(ts, conf->so_timeout) : t->q_answer;
	ep->impl = t;
	return HINNY_OK;
}

static void
release(struct worker *wk, struct endpoint *ep)
{
	struct http_target *t = ep->impl;

	if (t == NULL)
		return;
	if (http_state_of(wk) != NULL)
		http_origin_put(t->origin); /* else the pools have gone before */
	free(t->authority);
	free(t->path);
	free(t->authorization);
	free(t);
	ep->impl = NULL;
}

/* ---- requests under way ---- */

static struct http_send *
take_send(struct http_state *hs)
{
	struct http_send *s;

	if (list_empty(&hs->sends_free)) {
		s = mem_alloc(sizeof *s);
	} else {
		s = LIST_FIRST(&hs->sends_free, struct http_send, node);
		list_remove(&s->node);
		hs->sends_free_n--;
	}
	s->hs = hs;
	list_init(&s->node);
	return s;
}

static void
give_send(struct http_send *s)
{
	struct http_state *hs = s->hs;

	if (hs->sends_free_n >= SENDS_KEPT) {
		loop_free_later(
		    hs->io.lp, s); /* its stream may be looked at until the end of the turn */
		return;
	}
	list_prepend(&hs->sends_free, &s->node);
	hs->sends_free_n++;
}

void
http_sends_free(struct http_state *hs)
{
	while (!list_empty(&hs->sends_free)) {
		struct http_send *s = LIST_FIRST(&hs->sends_free, struct http_send, node);
		list_remove(&s->node);
		free(s);
	}
}

void
http_send_finish(struct http_send *s, bool ok)
{
	struct exchange *ex = s->ex;

	s->ex = NULL;
	if (s->starting) {
		s->result = ok ? STEP_DONE : STEP_FAILED;
		return;
	}
	if (ok)
		engine_resume(ex);
	else
		engine_fail(ex);
}

/* The answer led elsewhere: asks there. */
static void
send_again(struct http_send *s)
{
	bool built = http_request_build(s);

	s->redirect = (struct str){ NULL, 0 };
	if (built) {
		http_call_start(&s->call);
		return;
	}
	http_send_finish(s, false);
	give_send(s);
}

void
http_send_over(struct http_call *call)
{
	struct http_send *s = CONTAINER_OF(call, struct http_send, call);

	http_origin_put(call->origin);
	if (s->redirect.n > 0 && s->ex != NULL)
		send_again(s);
	else if (!s->starting)
		give_send(s);
	else
		s->gone = true;
}

static enum step_rc
send_message(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct http_state *hs = http_state_of(wk);
	struct http_send *s;

	if (hs == NULL || ep->impl == NULL) {
		exchange_fail(ex, EXCEPTION_NO_SUCH_ENDPOINT, "%s is not prepared", ep->uri);
		return STEP_FAILED;
	}
	s = take_send(hs);
	s->ex = ex;
	s->st = st;
	s->ep = ep;
	s->dynamic = st != NULL && st->eip != NULL && strcmp(st->eip->name, "toD") == 0;
	s->gone = false;
	s->redirect = (struct str){ NULL, 0 };
	s->redirect_method = HTTP_METHOD_UNSET;
	s->redirect_abroad = false;
	s->redirects = 0;
	if (!http_request_build(s)) {
		give_send(s);
		return STEP_FAILED;
	}
	s->starting = true;
	s->result = STEP_PENDING;
	http_call_start(&s->call);
	s->starting = false;
	enum step_rc rc = s->result;
	if (s->gone)
		give_send(s);
	return rc;
}

const struct component_ops http_ops = {
	.scheme = "http",
	.prepare = prepare,
	.send = send_message,
	.release = release,
};
