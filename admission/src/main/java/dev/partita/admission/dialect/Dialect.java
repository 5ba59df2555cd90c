package dev.partita.admission.dialect;

import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A system's way to ask for GPUs, by extended resources or by annotations. A row, and a reader beside it. */
public enum Dialect {
  DEVICE_CLASS("Kubernetes' extended resources", "deviceclass\\.resource\\.kubernetes\\.io/(.*\\.)?gpu\\.partita\\.dev",
      new DeviceClasses()),
  MIG(Dialect.OF_NVIDIA, "nvidia\\.com/mig-.*", new MigProfiles()),
  TIME_SLICES(Dialect.OF_NVIDIA, "nvidia\\.com/gpu\\.shared", new TimeSlices()),
  VGPU_MANAGER("vgpu-manager", "nvidia\\.com/vgpu-.*", CardCountDialect.VGPU_MANAGER),
  /** Whole cards of NVIDIA's device plugin, and HAMi's shares, which begin with the same resource. */
  NVIDIA(Dialect.OF_NVIDIA, "nvidia\\.com/(gpu|priority).*", CardCountDialect.HAMI),
  GPU_MANAGER("GPUManager", "tencent\\.com/vcuda.*", PercentDialect.GPU_MANAGER),
  GPU_SHARE("gpushare or cGPU", "aliyun\\.com/gpu.*", new GpuShare()),
  ELASTIC_GPU("Elastic GPU", "elasticgpu\\.io/.*", PercentDialect.ELASTIC_GPU),
  QGPU("qGPU", "tke\\.cloud\\.tencent\\.com/qgpu.*", PercentDialect.QGPU),
  VOLCANO("Volcano", "volcano\\.sh/(vgpu|gpu-).*", CardCountDialect.VOLCANO),
  KOORDINATOR("Koordinator", "koordinator\\.sh/gpu.*|kubernetes\\.io/gpu(-core|-memory(-ratio)?)?", new Koordinator()),
  KAI("KAI or Run:ai", new GpuFractions());

  /** Its containers may ask in different ways of these. */
  private static final String OF_NVIDIA = "NVIDIA's device plugin or HAMi";

  private final String title;
  private final Pattern resources;
  @SuppressWarnings("ImmutableEnumChecker") // none keeps anything
  private final DialectReader reader;

  Dialect(String title, String resources, DialectReader.OfResources reader) {
    this.title = title;
    this.resources = Pattern.compile(resources);
    this.reader = reader;
  }

  /** Which no name of a resource belongs to. */
  Dialect(String title, DialectReader.OfAnnotations reader) {
    this.title = title;
    this.resources = Pattern.compile("(?!)");
    this.reader = reader;
  }

  /**
   * The dialect that a resource belongs to, whether or not it is one that can be converted; empty if it is no GPU's.
   */
  public static Optional<Dialect> of(String resource) {
    return Stream.of(values()).filter(dialect -> dialect.resources.matcher(resource).matches()).findFirst();
  }

  /** The system's name, for people. Dialects of one name are ways of one system, which its pods may mix. */
  public String title() {
    return title;
  }

  /** How its requests are read. */
  public DialectReader reader() {
    return reader;
  }
}
