/*
 * Masking, in one pass over the text. A name in XML and in name=value is sensitive when it has one
 * of the words in it; a member of JSON when it is one of them.
 */
#include "core/eip/log_mask.h"

#include "core/base/assert.h"
#include "core/base/buf.h"

#include <ctype.h>
#include <string.h>

#define MASK STR_LIT("xxxxx")

static const char *const words[] = { "accesskey", "accesstoken", "accesstokensecret", "accountkey",
	"accountsid", "acltoken", "api-key", "api_key", "api_secret", "apikey", "apipassword",
	"apiuser", "apiusername", "authenticationtoken", "authkey", "authorization",
	"authorizationtoken", "authtoken", "azureclientid", "azureclientsecret",
	"basicauthpassword", "bearertoken", "blobaccesskey", "blobstoragesharedkeycredential",
	"certresourcepassword", "clientid", "clientsecret", "clientsecretcredential",
	"connectionstring", "consumerkey", "consumersecret", "emailaddress", "functionkey",
	"hostkey", "httpproxypassword", "kerberosauthticket", "keypassword", "keystorepassword",
	"knownhosts", "knownhostsfile", "knownhostsuri", "oauthclientid", "oauthclientsecret",
	"oauthtoken", "oauthtokenurl", "p12filename", "passphrase", "password",
	"personalaccesstoken", "postmanapikey", "privatekey", "privatekeyfile", "privatekeyname",
	"privatekeypassword", "proxyauthpassword", "proxyauthusername", "proxypassword",
	"proxyuser", "proxyusername", "publickeyid", "publishkey", "queueownerawsaccountid",
	"realm", "refreshtoken", "sascredential", "sasljaasconfig", "saslpassword", "sassignature",
	"sastoken", "secret", "secretkey", "securerandom", "serviceinstanceid", "sessiontoken",
	"sharedaccesskey", "sourceblobaccesskey", "sslkeypassword", "sslkeystorepassword",
	"sslpassword", "ssltruststorepassword", "storageaccountconnectionstring", "subscribekey",
	"subscriptionid", "systemid", "token", "tokencredential", "truststorepassword", "user",
	"userauthenticationcredentials", "username", "userpassword", "verificationcode",
	"webhookverifytoken", "zookeeperpassword" };

static bool
is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

static bool
is_sensitive_member(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_caseeq(name, str_of(words[i])))
			return true;
	}
	return false;
}

static bool
is_sensitive_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_casefind(name, str_of(words[i])) != SIZE_MAX)
			return true;
	}
	return false;
}

struct masking {
	struct str text;
	struct buf out;
	size_t copied; /* of the text */
};

/* [from, to) of the text is not to be seen. */
static void
hide(struct masking *m, size_t from, size_t to)
{
	(void)buf_add(&m->out, m->text.p + m->copied, from - m->copied); /* it has no bound */
	(void)buf_add_str(&m->out, MASK);
	m->copied = to;
}

static size_t
skip_blanks(struct str s, size_t i)
{
	while (i < s.n && isspace((unsigned char)s.p[i]))
		i++;
	return i;
}

/* ---- name=value, name="value" ---- */

static struct str
name_before(struct str s, size_t equals)
{
	size_t end = equals;

	while (end > 0 && isspace((unsigned char)s.p[end - 1]))
		end--;
	size_t start = end;
	while (start > 0 && (is_word(s.p[start - 1]) || s.p[start - 1] == '-'))
		start--;
	return (struct str){ s.p + start, end - start };
}

static void
mask_pairs(struct masking *m)
{
	struct str s = m->text;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '=' || !is_sensitive_name(name_before(s, i)))
			continue;
		size_t from = skip_blanks(s, i + 1), to;
		if (from < s.n && (s.p[from] == '"' || s.p[from] == '\''))
			from++;
		else
			from = i + 1;
		for (to = from; to < s.n && s.p[to] != '\'' && s.p[to] != '"' && s.p[to] != ',';)
			to++;
		if (to == from)
			continue;
		hide(m, from, to);
		i = to - 1;
	}
}

/* ---- <name>value</name> ---- */

/* The name behind "<", with its prefix. */
static struct str
tag_name(struct str s, size_t i)
{
	size_t n = 0;

	while (i + n < s.n && (is_word(s.p[i + n]) || strchr(":-.", s.p[i + n]) != NULL))
		n++;
	return (struct str){ s.p + i, n };
}

static bool
is_end_tag(struct str s, size_t i, struct str name)
{
	return i + 2 + name.n < s.n && s.p[i + 1] == '/' &&
	    memcmp(s.p + i + 2, name.p, name.n) == 0 && s.p[i + 2 + name.n] == '>';
}

static void
mask_elements(struct masking *m)
{
	struct str s = m->text;
	const char *p;

	for (size_t i = 0; i < s.n && (p = memchr(s.p + i, '<', s.n - i)) != NULL; i++) {
		i = (size_t)(p - s.p);
		struct str name = tag_name(s, i + 1);
		const char *close = memchr(p, '>', s.n - i);
		if (close == NULL)
			return;
		if (name.n == 0 || !is_sensitive_name(name))
			continue;
		size_t from = skip_blanks(s, (size_t)(close + 1 - s.p)), to = from;
		while (to < s.n && s.p[to] != '<')
			to++;
		if (to == s.n || !is_end_tag(s, to, name))
			continue;
		while (to > from && isspace((unsigned char)s.p[to - 1]))
			to--;
		if (to > from)
			hide(m, from, to);
	}
}

/* ---- "name": "value" ---- */

/* The end of the text that begins at the quote at i: where its closing quote is, or s.n. */
static size_t
text_end(struct str s, size_t i)
{
	for (i++; i < s.n && s.p[i] != '"'; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
	}
	return i;
}

static void
mask_members(struct masking *m)
{
	struct str s = m->text;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '"')
			continue;
		size_t end = text_end(s, i);
		size_t next = skip_blanks(s, end < s.n ? end + 1 : end);
		bool member = next < s.n && s.p[next] == ':' &&
		    is_sensitive_member((struct str){ s.p + i + 1, end - i - 1 });
		i = end;
		if (!member)
			continue;
		next = skip_blanks(s, next + 1);
		if (next >= s.n || s.p[next] != '"')
			continue;
		i = text_end(s, next);
		hide(m, next + 1, i);
	}
}

struct str
log_mask(struct arena *a, struct str text)
{
	struct masking m = { .text = text };

	buf_init(&m.out, 0);
	if (text.n > 0 && text.p[0] == '<') {
		mask_elements(&m);
		if (m.copied > 0) { /* then its attributes */
			(void)buf_add(&m.out, text.p + m.copied, text.n - m.copied);
			m.text = arena_str(a, (struct str){ m.out.p, m.out.n });
			buf_clear(&m.out);
			m.copied = 0;
		}
		mask_pairs(&m);
	} else if (text.n > 0 && (text.p[0] == '{' || text.p[0] == '[')) {
		mask_members(&m);
	} else {
		mask_pairs(&m);
	}
	if (m.copied > 0) {
		(void)buf_add(&m.out, m.text.p + m.copied, m.text.n - m.copied);
		m.text = arena_str(a, (struct str){ m.out.p, m.out.n });
	}
	buf_fini(&m.out);
	return m.text;
}
