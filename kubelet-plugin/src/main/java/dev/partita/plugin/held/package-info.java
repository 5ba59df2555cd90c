/**
 * What the node holds although no claim says so: prepared claims that were deleted, and claims of which no record can
 * be read. Nobody else gets that: the GpuNode reports it, and it stands in the way of new claims.
 */
@NullMarked
package dev.partita.plugin.held;

import org.jspecify.annotations.NullMarked;
