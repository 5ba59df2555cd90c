package dev.partita.plugin.nvml;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the node's cards. Not safe for several threads, except that one may wait for events while another one reads.
 */
public interface CardReader extends AutoCloseable, MigControl, MemoryLimitControl {
  /** Reads all cards now. */
  CardReading read() throws NvmlException;

  /**
   * The processes that this pid namespace can see on each card that answers, by the card's UUID. Those of a process
   * outside it are not told.
   */
  Map<String, List<ProcessMemory>> processes() throws NvmlException;

  /**
   * What processes used of a card's SMs, by its UUID: the newest sample of each, if it is newer than a time in
   * microseconds.
   *
   * @throws NvmlException if the card or the driver does not tell
   */
  List<ProcessSample> samples(String uuid, long newerThan) throws NvmlException;

  /** What it measures of each card that answers, by the card's UUID. */
  Map<String, Map<CardFigure, Double>> figures() throws NvmlException;

  /**
   * Waits for the next XID error of a card since the library was opened.
   *
   * @return empty if none came in that time
   * @throws NvmlException if there are no events now; one that came meanwhile may be lost
   */
  Optional<XidEvent> awaitXid(Duration atMost) throws NvmlException;

  /** Nobody may be waiting. */
  @Override
  void close();
}
