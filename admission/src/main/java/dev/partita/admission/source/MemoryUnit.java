package dev.partita.admission.source;

/** What an amount of memory is counted in. The names are those that a user writes: {@code MiB}, {@code GiB}. */
public enum MemoryUnit {
  MIB("MiB", 1L << 20),
  GIB("GiB", 1L << 30);

  private final String title;
  private final long bytes;

  MemoryUnit(String title, long bytes) {
    this.title = title;
    this.bytes = bytes;
  }

  /** How many bytes one of it is. */
  public long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return title;
  }
}
