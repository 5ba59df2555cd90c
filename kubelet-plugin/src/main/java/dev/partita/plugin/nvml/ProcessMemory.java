package dev.partita.plugin.nvml;

/**
 * What a process holds of a card.
 *
 * @param pid in the pid namespace of this process
 * @param bytes of device memory, with contexts and modules
 */
public record ProcessMemory(long pid, long bytes) {}
