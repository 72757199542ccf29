/*
 * SCRAM as brokers want it. librdkafka before 2.6.1 puts the client's nonce into its last message
 * twice ("r=" client client+server), which Kafka refuses since 3.7.2, 3.8.1 and 3.9. The snprintf()
 * and HMAC() of kafka_scram.c stand before those of the C library and of OpenSSL, so that this one
 * text of librdkafka has the nonce once. Its length, which librdkafka has reckoned, stays: an
 * extension that says nothing, which RFC 5802 lets a broker pass over, fills it, and is left out
 * of what is signed, as Kafka leaves it out.
 */
#ifndef HINNY_KAFKA_KAFKA_SCRAM_H
#define HINNY_KAFKA_KAFKA_SCRAM_H

/* Before the first client: mends from now on, where the librdkafka that runs needs it. Without this call
 * the linker would leave the file out where another library has these functions too. */
void kafka_scram_init(void);

#endif
