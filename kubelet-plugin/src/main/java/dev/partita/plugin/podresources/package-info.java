/** Which containers have which devices, as kubelet tells (its PodResources API). */
@NullMarked
package dev.partita.plugin.podresources;

import org.jspecify.annotations.NullMarked;
