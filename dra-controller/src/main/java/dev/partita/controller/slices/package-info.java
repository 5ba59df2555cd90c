/** GpuNodes to ResourceSlices, and keeping them published. */
@NullMarked
package dev.partita.controller.slices;

import org.jspecify.annotations.NullMarked;
