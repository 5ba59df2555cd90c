package dev.partita.plugin.nvml.jna;

import java.util.Locale;

/** NVML's numbers as words. The values are those of nvml.h. */
final class NvmlNames {
  private static final String[] BRANDS = {
    "Unknown", "Quadro", "Tesla", "NVS", "Grid", "GeForce", "Titan", "NvidiaVApps", "NvidiaVPC", "NvidiaVCS",
    "NvidiaVWS", "NvidiaCloudGaming", "QuadroRTX", "NvidiaRTX", "Nvidia", "GeForceRTX", "TitanRTX"
  };
  private static final String[] ARCHITECTURES = {
    "Unknown", "Unknown", "Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper",
    "Blackwell"
  };

  private NvmlNames() {}

  /** nvmlBrandType_t. */
  static String brand(int type) {
    return type >= 0 && type < BRANDS.length ? BRANDS[type] : "Unknown";
  }

  /** nvmlDeviceArchitecture_t. */
  static String architecture(int type) {
    return type >= 0 && type < ARCHITECTURES.length ? ARCHITECTURES[type] : "Unknown";
  }

  /** CUDA's version number (13000) as people write it (13.0). */
  static String cudaVersion(int number) {
    return number / 1000 + "." + number % 1000 / 10;
  }

  /** A bus id in the form of sysfs (0000:1b:00.0) from NVML's (00000000:1B:00.0). */
  static String busId(String nvml) {
    String id = nvml.toLowerCase(Locale.ROOT);
    return id.length() == 16 && id.startsWith("0000") ? id.substring(4) : id;
  }
}
