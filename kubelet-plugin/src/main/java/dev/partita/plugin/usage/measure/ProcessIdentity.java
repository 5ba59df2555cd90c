package dev.partita.plugin.usage.measure;

/**
 * Names one process for good. A pid alone does not: once the process has ended, another one may get it.
 *
 * @param pid as this pid namespace names it
 * @param start when it started, in clock ticks since boot
 */
public record ProcessIdentity(long pid, long start) {}
