package dev.partita.controller.forecast;

/**
 * How often a demand arrives.
 *
 * @param arrivals how many pods, in comparison with others
 */
public record Frequency(Demand demand, long arrivals) {}
