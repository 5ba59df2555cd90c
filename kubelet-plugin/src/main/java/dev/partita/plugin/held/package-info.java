/**
 * What the node holds although no claim says so: prepared claims that were deleted, and claims whose record cannot be
 * read. Nobody else gets these devices: the GpuNode reports them, and new claims are refused beside them.
 */
@NullMarked
package dev.partita.plugin.held;

import org.jspecify.annotations.NullMarked;
