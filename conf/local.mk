# Example configurations, the systemd unit, sysusers and tmpfiles snippets: what is installed of them.

# Files that name installed folders are made of NAME.in.
hinny_subst = $(SED) \
	-e 's,@bindir\@,$(bindir),g' \
	-e 's,@sbindir\@,$(sbindir),g' \
	-e 's,@sysconfdir\@,$(sysconfdir),g' \
	-e 's,@runstatedir\@,$(runstatedir),g'
conf/hinny.service: conf/hinny.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(hinny_subst) $(srcdir)/conf/hinny.service.in > $@.new && mv $@.new $@
conf/hinny.tmpfiles: conf/hinny.tmpfiles.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(hinny_subst) $(srcdir)/conf/hinny.tmpfiles.in > $@.new && mv $@.new $@
CLEANFILES += conf/hinny.service conf/hinny.tmpfiles

if WITH_SYSTEMD
systemdsystemunit_DATA = conf/hinny.service
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
install-systemd: conf/hinny.tmpfiles
	$(MKDIR_P) '$(DESTDIR)$(sysusersdir)' '$(DESTDIR)$(tmpfilesdir)'
	$(INSTALL_DATA) $(srcdir)/conf/hinny.sysusers '$(DESTDIR)$(sysusersdir)/hinny.conf'
	$(INSTALL_DATA) conf/hinny.tmpfiles '$(DESTDIR)$(tmpfilesdir)/hinny.conf'
uninstall-systemd:
	rm -f '$(DESTDIR)$(sysusersdir)/hinny.conf' '$(DESTDIR)$(tmpfilesdir)/hinny.conf'
else
install-systemd:
uninstall-systemd:
endif

# A configuration that is there already stays; it goes with the rest when nobody has changed it.
install-config:
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/hinny/routes'
	test -e '$(DESTDIR)$(sysconfdir)/hinny/hinny.yaml' || \
		$(INSTALL_DATA) $(srcdir)/conf/hinny.yaml '$(DESTDIR)$(sysconfdir)/hinny/hinny.yaml'
uninstall-config:
	if cmp -s $(srcdir)/conf/hinny.yaml '$(DESTDIR)$(sysconfdir)/hinny/hinny.yaml'; then \
		rm -f '$(DESTDIR)$(sysconfdir)/hinny/hinny.yaml'; fi
	-rmdir '$(DESTDIR)$(sysconfdir)/hinny/routes' '$(DESTDIR)$(sysconfdir)/hinny' 2>/dev/null
install-data-local: install-config install-systemd
uninstall-local: uninstall-config uninstall-systemd
.PHONY: install-config install-systemd uninstall-config uninstall-systemd
