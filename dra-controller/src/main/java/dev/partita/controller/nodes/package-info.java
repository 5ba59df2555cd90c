/** Which nodes a pod can run on, by what its specification and the Node say. Pure. */
@NullMarked
package dev.partita.controller.nodes;

import org.jspecify.annotations.NullMarked;
