# Manual pages (mdoc): one line a page, `dist_man_MANS += man/hinnyd.8`.
dist_man_MANS += \
	man/hinny.1 \
	man/hinny.yaml.5 \
	man/hinnyd.8
