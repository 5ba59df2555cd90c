package dev.partita.plugin.usage.excess;

/**
 * When a process is blamed for what it holds, and what is done about it then.
 *
 * @param action what is done
 * @param plausibleOverhead bytes that contexts and modules of one process are believed to take
 */
public record ExcessPolicy(OnExcess action, long plausibleOverhead) {}
