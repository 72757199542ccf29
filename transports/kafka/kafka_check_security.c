/*
 * What the options of security must be to go together. Nothing that looks like protection is taken
 * and then not done: an option that the protocol gives no meaning is told.
 */
#include "transports/kafka/kafka_check.h"

#include "core/base/assert.h"
#include "transports/kafka/kafka_conf.h"
#include "transports/kafka/kafka_jaas.h"

#include "core/config/option.h"

#include <string.h>

static bool
given(const struct kafka_conf *conf, const char *name)
{
	return option_given(kafka_options, conf, name);
}

static const struct {
	const char *name;
	bool sasl, tls;
} protocols[] = {
	{ "PLAINTEXT", false, false },
	{ "SSL", false, true },
	{ "SASL_PLAINTEXT", true, false },
	{ "SASL_SSL", true, true },
};

/* saslAuthType says both, where they are not given. */
static void
apply_auth_type(struct kafka_conf *conf)
{
	static const char *const mechanisms[] = {
		[KAFKA_SASL_AUTH_PLAIN] = "PLAIN",
		[KAFKA_SASL_AUTH_SCRAM_256] = "SCRAM-SHA-256",
		[KAFKA_SASL_AUTH_SCRAM_512] = "SCRAM-SHA-512",
		[KAFKA_SASL_AUTH_SSL] = NULL,
	};
	const char *mechanism = mechanisms[conf->sasl_auth];

	if (conf->sasl_auth == KAFKA_SASL_AUTH_UNSET || conf->sasl_auth == KAFKA_SASL_AUTH_NONE)
		return;
	if (!given(conf, "securityProtocol"))
		conf->security_protocol = mechanism != NULL ? "SASL_SSL" : "SSL";
	if (mechanism != NULL && !given(conf, "saslMechanism"))
		conf->sasl_mechanism = mechanism;
}

static int
check_sasl(struct compile *c, struct endpoint *ep)
{
	static const char *const mechanisms[] = { "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", NULL };
	struct kafka_conf *conf = ep->conf;
	const char *why;

	for (size_t i = 0; mechanisms[i] != NULL; i++) {
		if (strcmp(conf->sasl_mechanism, mechanisms[i]) == 0)
			conf->mechanism = mechanisms[i];
	}
	if (conf->mechanism == NULL)
		return compile_error(c, ep->at,
		    "saslMechanism: \"%s\" is not implemented in this release: expected \"PLAIN\", "
		    "\"SCRAM-SHA-256\" or \"SCRAM-SHA-512\"",
		    conf->sasl_mechanism);
	if (conf->sasl_jaas != NULL) {
		struct kafka_jaas jaas;
		if (!kafka_jaas_parse(compile_arena(c), str_of(conf->sasl_jaas), &jaas, &why))
			return compile_error(c, ep->at, "saslJaasConfig: %s", why);
		if (jaas.scram != (conf->mechanism[0] == 'S'))
			return compile_error(c, ep->at, "saslJaasConfig: the login module does not go with "
			    "saslMechanism=%s", conf->mechanism);
		conf->sasl_username = jaas.username;
		conf->sasl_password = jaas.password;
	}
	if (conf->sasl_username == NULL || conf->sasl_password == NULL)
		return compile_error(c, ep->at,
		    "%s: missing with securityProtocol=%s: expected saslUsername and saslPassword, or "
		    "saslJaasConfig",
		    conf->sasl_username == NULL ? "saslUsername" : "saslPassword",
		    conf->security_protocol);
	return 0;
}

/* Options that the protocol gives no meaning. */
static void
warn_unused(struct compile *c, const struct endpoint *ep, bool sasl, bool tls)
{
	const struct kafka_conf *conf = ep->conf;

	for (const struct option_desc *o = kafka_options; o->name != NULL; o++) {
		bool unused = (strncmp(o->name, "sasl", 4) == 0 && !sasl && strcmp(o->name, "saslAuthType") != 0) ||
		    (strncmp(o->name, "ssl", 3) == 0 && !tls);
		if (unused && given(conf, o->name))
			compile_warning(c, ep->at, "%s: without effect with securityProtocol=%s", o->name,
			    conf->security_protocol);
	}
}

static bool
is_type(const char *type, const char *name)
{
	return type != NULL && str_caseeq(str_of(type), str_of(name));
}

/* PEM may be left out where the file's name says it. */
static bool
is_pem(const char *type, const char *file)
{
	return is_type(type, "PEM") || (type == NULL && str_ends(str_of(file), ".pem"));
}

static int
check_passwords(struct compile *c, const struct endpoint *ep)
{
	const struct kafka_conf *conf = ep->conf;

	if (conf->ssl_truststore_password != NULL)
		return compile_error(c, ep->at, "sslTruststorePassword: a PEM file has none");
	if (conf->ssl_keystore == NULL && (conf->ssl_keystore_password != NULL || conf->ssl_key_password != NULL))
		return compile_error(c, ep->at, "sslKeystoreLocation: missing: a password without a key was given");
	if (conf->ssl_keystore != NULL && conf->key_is_pem && conf->ssl_keystore_password != NULL)
		return compile_error(c, ep->at,
		    "sslKeystorePassword: a PEM file has none: expected sslKeyPassword for its key");
	if (conf->ssl_keystore != NULL && !conf->key_is_pem && conf->ssl_key_password != NULL)
		return compile_error(c, ep->at,
		    "sslKeyPassword: the key of a PKCS12 file has the password of the file: expected "
		    "sslKeystorePassword");
	return 0;
}

static int
check_host_name(struct compile *c, const struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;
	const char *name = conf->ssl_endpoint_algorithm;

	if (name[0] == '\0')
		conf->ssl_endpoint_algorithm = "none"; /* as Java's client has it */
	else if (strcmp(name, "https") != 0 && strcmp(name, "none") != 0)
		return compile_error(
		    c, ep->at, "sslEndpointAlgorithm: expected https or none, got \"%s\"", name);
	return 0;
}

static int
check_stores(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;

	if (conf->ssl_keystore != NULL)
		conf->key_is_pem = is_pem(conf->ssl_keystore_type, conf->ssl_keystore);
	if (check_host_name(c, ep) != 0 || check_passwords(c, ep) != 0)
		return -1;
	if (conf->ssl_truststore != NULL) {
		if (!is_pem(conf->ssl_truststore_type, conf->ssl_truststore))
			return compile_error(c, ep->at,
			    "sslTruststoreType: \"%s\" cannot be read here: expected \"PEM\" (keytool "
			    "-exportcert -rfc writes it)",
			    conf->ssl_truststore_type != NULL ? conf->ssl_truststore_type : "JKS");
		conf->ca_file = compile_file(c, conf->ssl_truststore, ep->at);
		if (conf->ca_file == NULL)
			return -1;
	}
	if (conf->ssl_keystore == NULL)
		return 0;
	if (!conf->key_is_pem && !is_type(conf->ssl_keystore_type, "PKCS12"))
		return compile_error(c, ep->at,
		    "sslKeystoreType: \"%s\" cannot be read here: expected \"PEM\" or \"PKCS12\"",
		    conf->ssl_keystore_type != NULL ? conf->ssl_keystore_type : "JKS");
	conf->key_file = compile_file(c, conf->ssl_keystore, ep->at);
	return conf->key_file != NULL ? 0 : -1;
}

int
kafka_check_security(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;
	size_t i = 0;

	apply_auth_type(conf);
	bool sasl_type = conf->sasl_auth > KAFKA_SASL_AUTH_NONE && conf->sasl_auth < KAFKA_SASL_AUTH_SSL;
	while (i < ARRAY_LEN(protocols) &&
	    !str_caseeq(str_of(conf->security_protocol), str_of(protocols[i].name)))
		i++;
	if (i == ARRAY_LEN(protocols))
		return compile_error(c, ep->at,
		    "securityProtocol: expected PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, got \"%s\"",
		    conf->security_protocol);
	conf->security_protocol = protocols[i].name;
	if ((sasl_type && !protocols[i].sasl) || (conf->sasl_auth == KAFKA_SASL_AUTH_SSL && !protocols[i].tls))
		return compile_error(c, ep->at, "saslAuthType: does not go with securityProtocol=%s",
		    conf->security_protocol);
	conf->tls = protocols[i].tls;
	warn_unused(c, ep, protocols[i].sasl, conf->tls);
	if (protocols[i].sasl && check_sasl(c, ep) != 0)
		return -1;
	if (conf->tls)
		return check_stores(c, ep);
	return 0;
}
