/** What cards the node has, and the GpuNode that reports them. */
@NullMarked
package dev.partita.plugin.inventory;

import org.jspecify.annotations.NullMarked;
