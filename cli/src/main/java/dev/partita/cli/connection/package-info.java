/** Which cluster a command asks, with kubectl's own options, and how it says that the cluster did not answer. */
@NullMarked
package dev.partita.cli.connection;

import org.jspecify.annotations.NullMarked;
