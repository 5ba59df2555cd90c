/**
 * Plays files of scenarios against the allocator, to measure it; and makes nodes and claims on paper, without a
 * cluster.
 */
@org.jspecify.annotations.NullMarked
package dev.partita.controller.replay;
