/* Message digests. SHA-224 and SHA-256 use the upper halves of the constants of SHA-512, as these
 * are roots of the same primes. */
#include "core/base/digest.h"

#include <endian.h>
#include <string.h>

static const uint64_t sha2_k[80] = {
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static const uint32_t md5_k[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
	0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
	0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
	0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
	0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
	0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const uint64_t keccak_rc[24] = {
	0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
	0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
	0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
	0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
	0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
	0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

static inline uint32_t
rol32(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static inline uint32_t
ror32(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static inline uint64_t
ror64(uint64_t x, unsigned n)
{
	return x >> n | x << (64 - n);
}

static inline uint32_t
load_le32(const uint8_t *p)
{
	uint32_t x;
	memcpy(&x, p, sizeof x);
	return le32toh(x);
}

static inline uint32_t
load_be32(const uint8_t *p)
{
	uint32_t x;
	memcpy(&x, p, sizeof x);
	return be32toh(x);
}

static inline uint64_t
load_be64(const uint8_t *p)
{
	uint64_t x;
	memcpy(&x, p, sizeof x);
	return be64toh(x);
}

/* The state of all but SHA-3: 32-bit words for MD5 to SHA-256, else 64. */
union state {
	uint32_t w[8];
	uint64_t d[8];
};

static void
md5_block(union state *s, const uint8_t *p)
{
	static const uint8_t shifts[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 },
		{ 6, 10, 15, 21 } };
	uint32_t a = s->w[0], b = s->w[1], c = s->w[2], d = s->w[3];

	for (unsigned i = 0; i < 64; i++) {
		uint32_t f;
		unsigned g;
		if (i < 16) {
			f = (b & c) | (~b & d);
			g = i;
		} else if (i < 32) {
			f = (d & b) | (~d & c);
			g = (5 * i + 1) % 16;
		} else if (i < 48) {
			f = b ^ c ^ d;
			g = (3 * i + 5) % 16;
		} else {
			f = c ^ (b | ~d);
			g = 7 * i % 16;
		}
		f += a + md5_k[i] + load_le32(p + 4 * g);
		a = d;
		d = c;
		c = b;
		b += rol32(f, shifts[i / 16][i % 4]);
	}
	s->w[0] += a;
	s->w[1] += b;
	s->w[2] += c;
	s->w[3] += d;
}

static void
sha1_block(union state *s, const uint8_t *p)
{
	uint32_t w[80], a = s->w[0], b = s->w[1], c = s->w[2], d = s->w[3], e = s->w[4];

	for (unsigned i = 0; i < 80; i++) {
		uint32_t f, k;
		w[i] = i < 16 ? load_be32(p + 4 * i)
			      : rol32(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		if (i < 20) {
			f = (b & c) | (~b & d);
			k = 0x5a827999;
		} else if (i < 40 || i >= 60) {
			f = b ^ c ^ d;
			k = i < 40 ? 0x6ed9eba1 : 0xca62c1d6;
		} else {
			f = (b & c) | (b & d) | (c & d);
			k = 0x8f1bbcdc;
		}
		uint32_t t = rol32(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = rol32(b, 30);
		b = a;
		a = t;
	}
	s->w[0] += a;
	s->w[1] += b;
	s->w[2] += c;
	s->w[3] += d;
	s->w[4] += e;
}

static void
sha256_block(union state *s, const uint8_t *p)
{
	uint32_t w[64], v[8];

	memcpy(v, s->w, sizeof v);
	for (unsigned i = 0; i < 64; i++) {
		if (i < 16) {
			w[i] = load_be32(p + 4 * i);
		} else {
			uint32_t x = w[i - 15], y = w[i - 2];
			w[i] = w[i - 16] + (ror32(x, 7) ^ ror32(x, 18) ^ x >> 3) + w[i - 7] +
			    (ror32(y, 17) ^ ror32(y, 19) ^ y >> 10);
		}
		uint32_t t = v[7] + (ror32(v[4], 6) ^ ror32(v[4], 11) ^ ror32(v[4], 25)) +
		    ((v[4] & v[5]) ^ (~v[4] & v[6])) + (uint32_t)(sha2_k[i] >> 32) + w[i];
		uint32_t u = (ror32(v[0], 2) ^ ror32(v[0], 13) ^ ror32(v[0], 22)) +
		    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof v[0]);
		v[4] += t;
		v[0] = t + u;
	}
	for (unsigned i = 0; i < 8; i++)
		s->w[i] += v[i];
}

static void
sha512_block(union state *s, const uint8_t *p)
{
	uint64_t w[80], v[8];

	memcpy(v, s->d, sizeof v);
	for (unsigned i = 0; i < 80; i++) {
		if (i < 16) {
			w[i] = load_be64(p + 8 * i);
		} else {
			uint64_t x = w[i - 15], y = w[i - 2];
			w[i] = w[i - 16] + (ror64(x, 1) ^ ror64(x, 8) ^ x >> 7) + w[i - 7] +
			    (ror64(y, 19) ^ ror64(y, 61) ^ y >> 6);
		}
		uint64_t t = v[7] + (ror64(v[4], 14) ^ ror64(v[4], 18) ^ ror64(v[4], 41)) +
		    ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha2_k[i] + w[i];
		uint64_t u = (ror64(v[0], 28) ^ ror64(v[0], 34) ^ ror64(v[0], 39)) +
		    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof v[0]);
		v[4] += t;
		v[0] = t + u;
	}
	for (unsigned i = 0; i < 8; i++)
		s->d[i] += v[i];
}

/* ---- SHA-3 ---- */

static void
keccak(uint64_t a[25])
{
	static const uint8_t lane[24] = { 10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2,
		20, 14, 22, 9, 6, 1 };
	uint64_t c[5];

	for (unsigned round = 0; round < 24; round++) {
		for (unsigned x = 0; x < 5; x++)
			c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
		for (unsigned i = 0; i < 25; i++)
			a[i] ^= c[(i + 4) % 5] ^ ror64(c[(i + 1) % 5], 63);
		uint64_t last = a[1];
		for (unsigned i = 0; i < 24; i++) {
			unsigned n = (i + 1) * (i + 2) / 2 % 64;
			uint64_t t = a[lane[i]];
			a[lane[i]] = n == 0 ? last : ror64(last, 64 - n);
			last = t;
		}
		for (unsigned y = 0; y < 25; y += 5) {
			memcpy(c, a + y, sizeof c);
			for (unsigned x = 0; x < 5; x++)
				a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
		}
		a[0] ^= keccak_rc[round];
	}
}

static void
sha3(struct str text, size_t length, uint8_t *out)
{
	uint64_t a[25] = { 0 };
	size_t rate = 200 - 2 * length, at = 0;

	for (size_t i = 0; i < text.n; i++) {
		a[at / 8] ^= (uint64_t)(uint8_t)text.p[i] << 8 * (at % 8);
		if (++at == rate) {
			keccak(a);
			at = 0;
		}
	}
	a[at / 8] ^= (uint64_t)0x06 << 8 * (at % 8);
	a[rate / 8 - 1] ^= (uint64_t)1 << 63;
	keccak(a);
	for (size_t i = 0; i < length; i++)
		out[i] = (uint8_t)(a[i / 8] >> 8 * (i % 8));
}

/* ---- all ---- */

static const struct kind {
	const char *names[3];
	uint8_t length, block, word; /* bytes; block 0: SHA-3 */
	bool little;
	void (*compress)(union state *s, const uint8_t *block);
	union state start;
} kinds[] = {
	[DIGEST_MD5] = { { "MD5" }, 16, 64, 4, true, md5_block,
	    { .w = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } } },
	[DIGEST_SHA1] = { { "SHA-1", "SHA1", "SHA" }, 20, 64, 4, false, sha1_block,
	    { .w = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } } },
	[DIGEST_SHA224] = { { "SHA-224", "SHA224" }, 28, 64, 4, false, sha256_block,
	    { .w = { 0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4 } } },
	[DIGEST_SHA256] = { { "SHA-256", "SHA256" }, 32, 64, 4, false, sha256_block,
	    { .w = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } } },
	[DIGEST_SHA384] = { { "SHA-384", "SHA384" }, 48, 128, 8, false, sha512_block,
	    { .d = { 0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4 } } },
	[DIGEST_SHA512] = { { "SHA-512", "SHA512" }, 64, 128, 8, false, sha512_block,
	    { .d = { 0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179 } } },
	[DIGEST_SHA3_224] = { { "SHA3-224" }, 28, 0, 0, true, NULL, { .w = { 0 } } },
	[DIGEST_SHA3_256] = { { "SHA3-256" }, 32, 0, 0, true, NULL, { .w = { 0 } } },
	[DIGEST_SHA3_384] = { { "SHA3-384" }, 48, 0, 0, true, NULL, { .w = { 0 } } },
	[DIGEST_SHA3_512] = { { "SHA3-512" }, 64, 0, 0, true, NULL, { .w = { 0 } } },
};

bool
digest_find(struct str name, enum digest *out)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		for (size_t k = 0; k < 3 && kinds[i].names[k] != NULL; k++) {
			if (!str_caseeq(name, str_of(kinds[i].names[k])))
				continue;
			*out = (enum digest)i;
			return true;
		}
	}
	return false;
}

/* The last bytes, a bit, zeros, and the length in bits. */
static void
finish(const struct kind *kind, union state *s, const uint8_t *rest, size_t n, uint64_t total)
{
	uint8_t tail[256] = { 0 };
	size_t end = n + 1 + 2u * kind->word <= kind->block ? kind->block : 2u * kind->block;

	if (n > 0)
		memcpy(tail, rest, n);
	tail[n] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		tail[kind->little ? end - 8 + i : end - 1 - i] = (uint8_t)(8 * total >> 8 * i);
	for (size_t at = 0; at < end; at += kind->block)
		kind->compress(s, tail + at);
}

size_t
digest_compute(enum digest which, struct str text, uint8_t out[DIGEST_MAX])
{
	const struct kind *kind = &kinds[which];
	const uint8_t *p = (const uint8_t *)text.p;
	union state s = kind->start;
	size_t n = text.n;

	if (kind->block == 0) {
		sha3(text, kind->length, out);
		return kind->length;
	}
	for (; n >= kind->block; n -= kind->block, p += kind->block)
		kind->compress(&s, p);
	finish(kind, &s, p, n, text.n);
	for (size_t i = 0; i < kind->length; i++) {
		size_t word = i / kind->word, byte = i % kind->word;
		unsigned shift = 8 * (unsigned)(kind->little ? byte : kind->word - 1u - byte);
		out[i] = (uint8_t)(kind->word == 4 ? s.w[word] >> shift : s.d[word] >> shift);
	}
	return kind->length;
}
