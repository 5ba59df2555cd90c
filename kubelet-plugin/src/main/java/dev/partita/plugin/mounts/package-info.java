/** What is mounted where, as the kernel tells a process. */
@NullMarked
package dev.partita.plugin.mounts;

import org.jspecify.annotations.NullMarked;
