/**
 * Claims as this node knows them: which devices they have, what they may do with the cards, and whether that clashes.
 * Values and pure functions.
 */
@NullMarked
package dev.partita.plugin.claim;

import org.jspecify.annotations.NullMarked;
