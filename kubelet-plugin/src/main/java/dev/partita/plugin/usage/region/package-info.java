/** What a container writes of its shares: the usage region, read as hostile input, and its ledger. */
@NullMarked
package dev.partita.plugin.usage.region;

import org.jspecify.annotations.NullMarked;
