/* core/base/digest: the test vectors of the standards, and lengths around the blocks. */
#include "core/base/digest.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

static const struct row {
	const char *label, *name, *text, *want;
} rows[] = {
	{ "MD5 of nothing", "MD5", "", "d41d8cd98f00b204e9800998ecf8427e" },
	{ "MD5", "md5", "abc", "900150983cd24fb0d6963f7d28e17f72" },
	{ "SHA-1", "SHA", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "SHA-224", "SHA-224", "abc",
	    "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7" },
	{ "SHA-256", "SHA256", "abc",
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "SHA-256, two blocks", "SHA-256",
	    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "SHA-384", "SHA-384", "abc",
	    "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
	    "8086072ba1e7cc2358baeca134c825a7" },
	{ "SHA-512", "SHA-512", "abc",
	    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
	{ "SHA3-256 of nothing", "SHA3-256", "",
	    "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a" },
	{ "SHA3-224", "SHA3-224", "abc",
	    "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf" },
	{ "SHA3-256", "SHA3-256", "abc",
	    "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532" },
	{ "SHA3-512", "SHA3-512", "abc",
	    "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
	    "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0" },
};

static void
hex_of(enum digest kind, struct str text, char out[2 * DIGEST_MAX + 1])
{
	uint8_t bytes[DIGEST_MAX];
	size_t n = digest_compute(kind, text, bytes);

	for (size_t i = 0; i < n; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char hex[2 * DIGEST_MAX + 1];
	enum digest kind;

	assert_true(digest_find(str_of(r->name), &kind));
	hex_of(kind, str_of(r->text), hex);
	assert_string_equal(hex, r->want);
}

/* FIPS 180-4's million of "a", whose length is no multiple of a block. */
static void
test_long(void **state)
{
	static char text[1000000];
	char hex[2 * DIGEST_MAX + 1];

	(void)state;
	memset(text, 'a', sizeof text);
	hex_of(DIGEST_SHA256, (struct str){ text, sizeof text }, hex);
	assert_string_equal(
	    hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	hex_of(DIGEST_SHA1, (struct str){ text, sizeof text }, hex);
	assert_string_equal(hex, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

static void
test_unknown(void **state)
{
	enum digest kind;

	(void)state;
	assert_false(digest_find(STR_LIT("MD6"), &kind));
	assert_false(digest_find(STR_LIT(""), &kind));
}

int
main(void)
{
	UNIT_TABLE("digest", rows, check_row);
	UNIT_CASE(test_long);
	UNIT_CASE(test_unknown);
	return unit_run("digest");
}
