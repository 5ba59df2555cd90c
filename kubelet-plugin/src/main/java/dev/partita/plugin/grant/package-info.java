/**
 * What of a card a claim is given, how it may use it, and what cannot stand beside that on the card. Values and pure
 * functions.
 */
@NullMarked
package dev.partita.plugin.grant;

import org.jspecify.annotations.NullMarked;
