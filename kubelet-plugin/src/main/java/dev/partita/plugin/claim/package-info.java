/**
 * Claims as this node knows them: which devices they were given, and what that asks of the cards. Values and pure
 * functions.
 */
@NullMarked
package dev.partita.plugin.claim;

import org.jspecify.annotations.NullMarked;
