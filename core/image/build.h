/* Building an image from its recipe, as a list of steps that run one after the other in child processes.
 *
 *     start ──► steps... ──► the new folder takes the old one's place ──► on_done(NULL)
 *                  └──► failed or canceled: the half-built folder goes away, the old image stays ──► on_done(err)
 *
 * A part whose inputs have not changed since the last build is taken over without network or work. Needs apt,
 * dpkg-deb, mmdebstrap, mksquashfs; no root where user namespaces are allowed. One build of an image at a
 * time (ERR_BUSY). */
#ifndef CCVM_IMAGE_BUILD_H
#define CCVM_IMAGE_BUILD_H

#include <stdbool.h>

#include "core/base/err.h"

struct loop;
struct image_build;

struct image_build_options {
	const char *recipe_path;   /* NAME.ini; all texts are borrowed during image_build_start */
	const char *images_dir;    /* made when missing */
	const char *cache_dir;     /* downloads that are used again; made when missing */
	const char *guest_program; /* the static ccvm-guest */
	bool fresh;                /* make every part again, with the newest packages */
	/* One plain line per call ("layer: unpacking vim"), `step` of `steps`; may be NULL. Only from the
	 * loop. */
	void (*on_progress)(void *arg, unsigned step, unsigned steps, const char *line);
};

/* on_done fires once, from the loop; `reused` is true when nothing had to be built. Errors that show at once
 * (recipe, name, lock) are returned here and on_done does not fire. */
struct image_build *image_build_start(struct loop *loop, const char *name,
                                      const struct image_build_options *options,
                                      void (*on_done)(void *arg, bool reused, const struct err *e), void *arg,
                                      struct err *e) MUST_USE;
/* Ends the running step; on_done follows with ERR_CANCELED. */
void image_build_cancel(struct image_build *b);
/* Accepts NULL. After on_done, or before it (then the build is given up and on_done does not fire). */
void image_build_close(struct image_build *b);

#endif
