/** Reads what a container writes of its shares, the usage region and its ledger, as hostile input. */
@NullMarked
package dev.partita.plugin.usage.region;

import org.jspecify.annotations.NullMarked;
