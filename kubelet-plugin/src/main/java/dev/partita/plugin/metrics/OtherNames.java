package dev.partita.plugin.metrics;

/** Whose names the metrics have besides our own, for the dashboards that are there. */
public enum OtherNames {
  /** HAMi's monitor and scheduler. */
  HAMI,
  /** NVIDIA's dcgm-exporter. */
  DCGM;

  String whose() {
    return switch (this) {
      case HAMI -> "HAMi";
      case DCGM -> "dcgm-exporter";
    };
  }

  Dialect dialect() {
    return switch (this) {
      case HAMI -> new HamiDialect();
      case DCGM -> new DcgmDialect();
    };
  }
}
