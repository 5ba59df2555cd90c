/**
 * Sees what there is to see of processes: who they are, whose containers they belong to, and what NVML says that each
 * holds.
 */
@NullMarked
package dev.partita.plugin.usage.measure;

import org.jspecify.annotations.NullMarked;
