/** Listens for XID errors: what the driver says about its cards between two readings. */
@NullMarked
package dev.partita.plugin.xid;

import org.jspecify.annotations.NullMarked;
