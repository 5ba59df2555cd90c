/**
 * Which containers have which devices, as kubelet tells (its PodResources API), and in which of them a process runs.
 */
@NullMarked
package dev.partita.plugin.podresources;

import org.jspecify.annotations.NullMarked;
