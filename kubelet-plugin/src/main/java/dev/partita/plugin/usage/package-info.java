/** What processes hold of shares: the containers' own word (usage regions) held against the kernel's and NVML's. */
@NullMarked
package dev.partita.plugin.usage;

import org.jspecify.annotations.NullMarked;
