/** Cards cut into MIG instances for claims: what is to change as pure functions, and the shell that has NVML do it. */
@NullMarked
package dev.partita.plugin.mig;

import org.jspecify.annotations.NullMarked;
