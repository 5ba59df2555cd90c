/** The loop that takes what changes in the cluster, item by item, and has the pods decided whom that concerns. */
@NullMarked
package dev.partita.controller.loop;

import org.jspecify.annotations.NullMarked;
