/** Has the driver, where it can, hold each pod to the memory of its shares: by a limit on the pod's cgroup. */
@NullMarked
package dev.partita.plugin.memorylimit;

import org.jspecify.annotations.NullMarked;
