package dev.partita.admission.dialect;

import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A system's way to ask for GPUs by extended resources. */
public enum Dialect {
  /** Whole cards of NVIDIA's device plugin, and HAMi's shares, which begin with the same resource. */
  NVIDIA("NVIDIA's device plugin or HAMi", "nvidia\\.com/(gpu|mig-|priority).*"),
  GPU_MANAGER("GPUManager", "tencent\\.com/vcuda.*"),
  GPU_SHARE("gpushare or cGPU", "aliyun\\.com/gpu.*"),
  ELASTIC_GPU("Elastic GPU", "elasticgpu\\.io/.*"),
  QGPU("qGPU", "tke\\.cloud\\.tencent\\.com/qgpu.*"),
  VOLCANO("Volcano", "volcano\\.sh/(vgpu|gpu-).*");

  private final String title;
  private final Pattern resources;

  Dialect(String title, String resources) {
    this.title = title;
    this.resources = Pattern.compile(resources);
  }

  /**
   * The dialect that a resource belongs to, whether or not it is one that can be converted; empty if it is no GPU's.
   */
  public static Optional<Dialect> of(String resource) {
    return Stream.of(values()).filter(dialect -> dialect.resources.matcher(resource).matches()).findFirst();
  }

  /** For people. */
  public String title() {
    return title;
  }

  /** How its requests are read. */
  public DialectReader reader() {
    return switch (this) {
      case NVIDIA -> CardCountDialect.HAMI;
      case GPU_MANAGER -> PercentDialect.GPU_MANAGER;
      case GPU_SHARE -> new GpuShare();
      case ELASTIC_GPU -> PercentDialect.ELASTIC_GPU;
      case QGPU -> PercentDialect.QGPU;
      case VOLCANO -> CardCountDialect.VOLCANO;
    };
  }
}
