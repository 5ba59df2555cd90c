/**
 * Whose turn it is to be decided about, who is decided together with others that are alike, and who is left alone
 * because it failed.
 */
@NullMarked
package dev.partita.controller.turns;

import org.jspecify.annotations.NullMarked;
