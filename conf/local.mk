# Example configurations, the systemd unit, sysusers and tmpfiles snippets: what is installed of them.
if WITH_SYSTEMD
systemdsystemunit_DATA =
endif
