/** {@code partita cordon} and {@code uncordon}: keep new claims off a card, without ending what runs on it. */
@NullMarked
package dev.partita.cli.cordon;

import org.jspecify.annotations.NullMarked;
