# Example configurations, the systemd unit, sysusers and tmpfiles snippets: what is installed of them.
if WITH_SYSTEMD
systemdsystemunit_DATA =
endif

# Files that name installed folders are made of NAME.in.
hinny_subst = $(SED) \
	-e 's,@bindir\@,$(bindir),g' \
	-e 's,@sbindir\@,$(sbindir),g' \
	-e 's,@sysconfdir\@,$(sysconfdir),g' \
	-e 's,@runstatedir\@,$(runstatedir),g'
conf/hinny.service: conf/hinny.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(hinny_subst) $(srcdir)/conf/hinny.service.in > $@.new && mv $@.new $@
CLEANFILES += conf/hinny.service
