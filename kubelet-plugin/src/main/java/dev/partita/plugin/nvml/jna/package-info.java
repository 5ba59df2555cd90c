/** NVML itself: the driver's own library, called through JNA. */
@NullMarked
package dev.partita.plugin.nvml.jna;

import org.jspecify.annotations.NullMarked;
