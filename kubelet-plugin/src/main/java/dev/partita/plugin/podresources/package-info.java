/**
 * Which containers have which devices, as kubelet tells (its PodResources API), in which of them a process runs, and
 * which other device plugins hand out the same cards.
 */
@NullMarked
package dev.partita.plugin.podresources;

import org.jspecify.annotations.NullMarked;
