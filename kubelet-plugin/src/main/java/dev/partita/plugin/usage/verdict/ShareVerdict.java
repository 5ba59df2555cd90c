package dev.partita.plugin.usage.verdict;

/**
 * What a share is used for at one moment, and what follows from that and from what was before.
 *
 * @param memory the memory state that has lasted
 * @param cores whether it keeps to its core limit, by NVML's samples
 */
public record ShareVerdict(ShareUse use, MemoryState memory, CoreUse cores) {}
