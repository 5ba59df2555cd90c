/** What the plugin keeps on the node for claims, and the lock under which that changes. */
@NullMarked
package dev.partita.plugin.store;

import org.jspecify.annotations.NullMarked;
