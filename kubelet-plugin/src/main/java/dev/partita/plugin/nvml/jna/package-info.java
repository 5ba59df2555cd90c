/** Calls NVML, the driver's own library, through JNA. */
@NullMarked
package dev.partita.plugin.nvml.jna;

import org.jspecify.annotations.NullMarked;
