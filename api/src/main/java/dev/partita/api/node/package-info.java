/** The GpuNode custom resource: what a node's plugin reports of its cards, and the settings of that node. */
@NullMarked
package dev.partita.api.node;

import org.jspecify.annotations.NullMarked;
