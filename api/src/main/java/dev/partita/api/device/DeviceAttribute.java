package dev.partita.api.device;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.node.GpuNodeStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of devices in our ResourceSlices, each with its name, with what it tells apart and with how it is read.
 * Whatever publishes, groups or compares devices goes through all of them, so that another attribute is another line
 * here. They are named as NVIDIA's own DRA driver names them where it has one.
 */
public enum DeviceAttribute {
  /** "gpu", "mig" for a MIG instance or its shares, or "opaque" for an opaque card. */
  TYPE("type", Scope.KIND, device -> text(switch (device.name()) {
    case DeviceName.Whole _,DeviceName.Shared _ -> "gpu";
    case DeviceName.Mig _,DeviceName.MigShared _ -> "mig";
    case DeviceName.Opaque _ -> DeviceMode.OF_OPAQUE;
  })),

  /**
   * "whole", "shared", "mig" or "mig-shared": see {@link DeviceMode}. Of an opaque card "opaque", so that no selector
   * of another mode matches it, whoever wrote that.
   */
  MODE("mode", Scope.KIND, device -> text(
      device.name() instanceof DeviceName.Opaque ? DeviceMode.OF_OPAQUE : device.mode().attributeValue())),

  /**
   * UUID of the card, also where the device is a MIG instance of it: {@link #INSTANCE_UUID} is the instance's own.
   */
  UUID("uuid", Scope.CARD, device -> text(device.gpu().uuid())),
  PRODUCT_NAME("productName", Scope.KIND, device -> text(device.gpu().productName())),

  /** Short model name, as in the model's DeviceClass: see {@link Driver#modelOf}. */
  MODEL("model", Scope.KIND, device -> text(device.gpu().model())),

  /** Who makes an opaque card, such as AMD; cards of NVIDIA's driver have none. */
  VENDOR("vendor", Scope.KIND, device -> Optional.ofNullable(device.gpu().opaque())
      .flatMap(opaque -> text(opaque.vendor()))),

  /** What tells an opaque card from the others of its node, as the file that lists it has it. */
  SERIAL("serial", Scope.CARD, device -> Optional.ofNullable(device.gpu().opaque())
      .flatMap(opaque -> text(opaque.serial()))),
  BRAND("brand", Scope.KIND, device -> text(device.gpu().brand())),
  ARCHITECTURE("architecture", Scope.KIND, device -> text(device.gpu().architecture())),

  /** Semantic version, such as 9.0.0. */
  CUDA_COMPUTE_CAPABILITY(
      "cudaComputeCapability", Scope.KIND, device -> version(device.gpu().cudaComputeCapability())),

  /** Semantic version, such as 580.95.5. */
  DRIVER_VERSION("driverVersion", Scope.KIND, device -> device.gpu().isOpaque()
      ? Optional.empty()
      : version(device.driverVersion())),

  /** Semantic version, such as 13.0.0. */
  CUDA_DRIVER_VERSION("cudaDriverVersion", Scope.KIND, device -> device.gpu().isOpaque()
      ? Optional.empty()
      : version(device.cudaDriverVersion())),
  INDEX("index", Scope.POSITION, device -> number(device.gpu().index())),
  MINOR("minor", Scope.POSITION, device -> device.gpu().isOpaque() ? Optional.empty() : number(device.gpu().minor())),
  PCI_BUS_ID("pciBusID", Scope.CARD, device -> text(device.gpu().pciBusId())),
  PCIE_ROOT("resource.kubernetes.io/pcieRoot", Scope.CARD, device -> text(device.gpu().pcieRoot())),
  NUMA_NODE("resource.kubernetes.io/numaNode", Scope.POSITION, device -> number(device.gpu().numaNode())),

  /** Cards with the same value reach each other over NVLink. */
  NVLINK_DOMAIN("nvlinkDomain", Scope.CARD, device -> text(device.gpu().nvlinkDomain())),

  /** Profile of a MIG instance, such as 1g.18gb. */
  PROFILE("profile", Scope.KIND, device -> device.profile().flatMap(profile -> text(profile.name()))),

  /** First memory slice of a MIG instance's placement, from 0. */
  PLACEMENT(
      "placement", Scope.KIND, device -> device.name().instance().flatMap(slot -> number(slot.start()))),

  /** UUID of a MIG instance that somebody else than Partita made, which is there before its claim is. */
  INSTANCE_UUID(
      "instanceUUID", Scope.CARD, device -> device.name().instance().flatMap(device.gpu()::staticMigInstance)
          .flatMap(instance -> text(instance.uuid())));

  /**
   * Which cards have the same value of an attribute. The allocator judges a request once for all cards with the same
   * values. A {@link #KIND} value that differs from card to card makes every card its own class: right, but slow.
   */
  public enum Scope {
    /** All cards of a kind, wherever they are: the model, a driver's version. */
    KIND,
    /** Cards of a kind at the same place of their hosts: the index, the NUMA node. */
    POSITION,
    /** One card, or some cards of one host: the UUID, the PCIe root. */
    CARD
  }

  /**
   * What attributes are read of: a card in one of the ways in which it is offered.
   *
   * @param driverVersion as in {@link GpuNodeStatus}
   * @param cudaDriverVersion as in {@link GpuNodeStatus}
   * @param profile of a MIG instance, also where shares of it are offered; empty for anything else
   */
  public record Source(
      @Nullable String driverVersion,
      @Nullable String cudaDriverVersion,
      Gpu gpu,
      DeviceName name,
      Optional<MigProfile> profile) {

    /** A card as its node reports it. */
    public Source(GpuNodeStatus node, Gpu gpu, DeviceName name, Optional<MigProfile> profile) {
      this(node.driverVersion(), node.cudaDriverVersion(), gpu, name, profile);
    }

    DeviceMode mode() {
      return name.mode();
    }
  }

  /** Longest string that a ResourceSlice takes (resource.k8s.io/v1, DeviceAttributeMaxValueLength). */
  private static final int MAX_TEXT = 64;

  private final String key;
  private final Scope scope;
  @SuppressWarnings("ImmutableEnumChecker") // none keeps anything
  private final Function<Source, Optional<AttributeValue>> reader;

  DeviceAttribute(String key, Scope scope, Function<Source, Optional<AttributeValue>> reader) {
    this.key = key;
    this.scope = scope;
    this.reader = reader;
  }

  /** Its name as a ResourceSlice has it: with its domain, unless that is the driver's. */
  public String key() {
    return key;
  }

  /** Its name with its domain: {@code gpu.partita.dev/uuid}. */
  public String qualifiedName() {
    return key.indexOf('/') < 0 ? Driver.NAME + "/" + key : key;
  }

  /** Its name without its domain, by which a CEL expression selects it of that. */
  public String identifier() {
    return key.substring(key.indexOf('/') + 1);
  }

  /** Its value of a device; empty where that has none. */
  public Optional<AttributeValue> read(Source device) {
    return reader.apply(device);
  }

  /** All attributes that a device has, by key. */
  public static SortedMap<String, AttributeValue> allOf(Source device) {
    SortedMap<String, AttributeValue> values = new TreeMap<>();
    for (DeviceAttribute attribute : values()) {
      attribute.read(device).ifPresent(value -> values.put(attribute.key, value));
    }
    return values;
  }

  /** All attributes of these scopes. */
  public static List<DeviceAttribute> of(Scope... scopes) {
    return Arrays.stream(values()).filter(attribute -> Arrays.asList(scopes).contains(attribute.scope)).toList();
  }

  /** The identifiers of all attributes of these scopes. */
  public static Set<String> identifiersOf(Scope... scopes) {
    return of(scopes).stream().map(DeviceAttribute::identifier).collect(Collectors.toUnmodifiableSet());
  }

  private static Optional<AttributeValue> text(@Nullable String value) {
    return value == null || value.isEmpty()
        ? Optional.empty()
        : Optional.of(new AttributeValue.Text(value.length() <= MAX_TEXT ? value : value.substring(0, MAX_TEXT)));
  }

  private static Optional<AttributeValue> number(@Nullable Integer value) {
    return value == null ? Optional.empty() : Optional.of(new AttributeValue.Int(value));
  }

  private static Optional<AttributeValue> version(@Nullable String value) {
    return value == null ? Optional.empty() : SemanticVersion.ofVendor(value).map(AttributeValue.Version::new);
  }
}
