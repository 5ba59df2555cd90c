/** GpuNodes to ResourceSlices, and writing these. */
@NullMarked
package dev.partita.controller.slices;

import org.jspecify.annotations.NullMarked;
