package dev.partita.plugin.nvml;

/**
 * What a process used of a card in one of NVML's sample periods, in percent of the card.
 *
 * @param pid in the pid namespace of this process, where that is the host's: the driver gives the host's
 * @param timestampMicros the end of the period
 */
public record ProcessSample(
    long pid,
    long timestampMicros,
    int smPercent,
    int memoryPercent,
    int encoderPercent,
    int decoderPercent) {}
