package dev.partita.plugin.claim;

/**
 * The node that the plugin runs on, since its last boot.
 *
 * @param pool name of its pool in allocations
 * @param bootId of the running kernel
 */
public record ThisNode(String pool, String bootId) {}
