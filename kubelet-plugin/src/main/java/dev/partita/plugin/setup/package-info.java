/** How the node is set up, as far as the plugin sees it: what {@code partita doctor} reads of a node. */
@NullMarked
package dev.partita.plugin.setup;

import org.jspecify.annotations.NullMarked;
