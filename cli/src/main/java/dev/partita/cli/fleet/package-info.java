/** Reads cards and claims from the API, with the caller's own rights. */
@NullMarked
package dev.partita.cli.fleet;

import org.jspecify.annotations.NullMarked;
