/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward compatibility: an image's own libcuda behind the shadow, where that is newer than the host's driver.
 */
#ifndef PARTITA_CDI_HOOK_COMPAT_H
#define PARTITA_CDI_HOOK_COMPAT_H

#include "container.h"
#include "search.h"

/*
 * Looks through those of the folders that are compat folders. Where the newest libcuda there is to be used with the
 * host's driver, it is mounted over the driver's own behind the shadow, and the libraries that it opens by name over
 * the driver's in folder. Otherwise nothing is done, so that the driver's own stays: whatever stands in the way is a
 * note. The shadow stands in front of either.
 *
 * driver: the host's version, such as 535.261.03; NULL, or what is no version: the driver's own stays
 */
void compat_put_behind(const struct container *container, const struct folders *folders, const char *folder,
                       const char *driver);

#endif
