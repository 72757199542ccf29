# Manual pages (mdoc): one line a page, `dist_man_MANS += man/hinnyd.8`.
