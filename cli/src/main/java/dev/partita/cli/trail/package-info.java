/** {@code partita logs}: what happened to a claim, from events, conditions and logs, in the order of time. */
@NullMarked
package dev.partita.cli.trail;

import org.jspecify.annotations.NullMarked;
