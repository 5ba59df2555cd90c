/**
 * What the API says of cards and of what claims have of them, read with the caller's own rights: reading stands in
 * {@code FleetReader}, all else is pure.
 */
@NullMarked
package dev.partita.cli.fleet;

import org.jspecify.annotations.NullMarked;
