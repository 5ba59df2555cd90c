package dev.partita.plugin.nvml;

/** Reads the node's cards. Not safe for use by several threads. */
public interface CardReader extends AutoCloseable {
  /** Reads all cards now. */
  CardReading read() throws NvmlException;

  @Override
  void close();
}
