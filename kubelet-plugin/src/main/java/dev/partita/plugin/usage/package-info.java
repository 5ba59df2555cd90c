/** Compares what containers say that they hold (their usage regions) with what the kernel and NVML say. */
@NullMarked
package dev.partita.plugin.usage;

import org.jspecify.annotations.NullMarked;
