/** Tells claims how well their cards are. */
@NullMarked
package dev.partita.plugin.cardhealth;

import org.jspecify.annotations.NullMarked;
