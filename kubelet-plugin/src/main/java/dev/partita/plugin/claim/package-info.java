/**
 * Claims as this node knows them: how far each is prepared, by which names its containers know it, and whether two
 * clash. Values and pure functions.
 */
@NullMarked
package dev.partita.plugin.claim;

import org.jspecify.annotations.NullMarked;
