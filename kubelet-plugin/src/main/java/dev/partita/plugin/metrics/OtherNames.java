package dev.partita.plugin.metrics;

import java.util.Locale;

/** Whose names the metrics have besides our own, for the dashboards that are there. */
public enum OtherNames {
  /** HAMi's monitor and scheduler. */
  HAMI,
  /** NVIDIA's dcgm-exporter. */
  DCGM,
  /** vgpu-manager's device-monitor. */
  VGPU_MANAGER;

  /** As settings have it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String whose() {
    return switch (this) {
      case HAMI -> "HAMi";
      case DCGM -> "dcgm-exporter";
      case VGPU_MANAGER -> "vgpu-manager";
    };
  }

  Dialect dialect() {
    return switch (this) {
      case HAMI -> new HamiDialect();
      case DCGM -> new DcgmDialect();
      case VGPU_MANAGER -> new VgpuManagerDialect();
    };
  }
}
