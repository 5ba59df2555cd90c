/** Cards as NVML describes them, and what can be asked of it. */
@NullMarked
package dev.partita.plugin.nvml;

import org.jspecify.annotations.NullMarked;
