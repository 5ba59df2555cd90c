package dev.partita.controller.history;

import dev.partita.controller.fleet.Totals;

/**
 * The fleet's figures at one time.
 *
 * @param at seconds since the epoch
 * @param waiting pods that wait for cards
 */
public record Sample(long at, Totals totals, int waiting) {}
