package dev.partita.plugin.claim;

/**
 * The node that the plugin runs on, since it was started last.
 *
 * @param pool name of its pool in allocations
 * @param bootId of the running kernel
 */
public record ThisNode(String pool, String bootId) {}
