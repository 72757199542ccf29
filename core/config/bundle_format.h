/* What bundle_save.c and bundle_load.c agree upon. */
#ifndef HINNY_CONFIG_BUNDLE_FORMAT_H
#define HINNY_CONFIG_BUNDLE_FORMAT_H

#define BUNDLE_MAGIC "hinny bundle 2\n"
#define BUNDLE_END "end\n"

#endif
