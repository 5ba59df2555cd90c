/** When which slices, classes and statuses of GpuNodes are published anew. */
@NullMarked
package dev.partita.controller.publish;

import org.jspecify.annotations.NullMarked;
