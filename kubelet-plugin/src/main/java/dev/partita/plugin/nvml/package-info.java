/** Cards as NVML describes them, read through JNA from the driver's own library. */
@NullMarked
package dev.partita.plugin.nvml;

import org.jspecify.annotations.NullMarked;
