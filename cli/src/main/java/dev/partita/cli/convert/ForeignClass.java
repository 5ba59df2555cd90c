package dev.partita.cli.convert;

import dev.partita.api.Driver;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * DeviceClasses of other DRA drivers, with what has an equal here, and why where nothing has. Sources:
 * kubernetes-sigs/dra-driver-nvidia-gpu (deployments, resourceslice-attributes.md), coldzerofear/vgpu-manager
 * (consts.go, kubeletplugin/types.go), Project-HAMi/k8s-dra-driver (hami_core.go).
 */
enum ForeignClass {
  NVIDIA_GPU("gpu.nvidia.com", ForeignClass.NVIDIA, new Kind.Card()),
  NVIDIA_MIG("mig.nvidia.com", ForeignClass.NVIDIA, new Kind.Instance()),
  NVIDIA_VFIO("vfio.gpu.nvidia.com", ForeignClass.NVIDIA,
      new Kind.None(ForeignClass.TO_MACHINE)),
  NVIDIA_IMEX("compute-domain-default-channel.nvidia.com", "compute-domain.nvidia.com",
      new Kind.None(ForeignClass.CHANNEL)),
  /** The same before there were ComputeDomains. */
  NVIDIA_IMEX_CHANNEL("imex.nvidia.com", "compute-domain.nvidia.com", new Kind.None(ForeignClass.CHANNEL)),
  NVIDIA_IMEX_DAEMON("compute-domain-daemon.nvidia.com", "compute-domain.nvidia.com",
      new Kind.None("is of NVIDIA's own daemons")),
  VGPU_MANAGER_GPU("gpu-manager", ForeignClass.VGPU_MANAGER, new Kind.Card()),
  VGPU_MANAGER_SHARE("vgpu-manager", ForeignClass.VGPU_MANAGER, new Kind.Share("vgpu")),
  VGPU_MANAGER_MIG("mig-manager", ForeignClass.VGPU_MANAGER, new Kind.Instance()),
  VGPU_MANAGER_VFIO("vfio-manager", ForeignClass.VGPU_MANAGER,
      new Kind.None(ForeignClass.TO_MACHINE)),
  HAMI_SHARE("hami-core-gpu.project-hami.io", "hami-core-gpu.project-hami.io",
      new Kind.Share("hami-gpu"));

  private static final String CHANNEL =
      "is a channel of memory between nodes: leave it to NVIDIA's driver, which may run beside Partita for it";

  static final String TO_MACHINE = "hands a card to a virtual machine, which Partita does not";

  private static final String NVIDIA = "gpu.nvidia.com";
  private static final String VGPU_MANAGER = "manager.nvidia.com";

  /** What a device of a class is here. */
  sealed interface Kind {
    /** A whole card, unless a part of its memory is asked for. */
    record Card() implements Kind {}

    /**
     * A part of a card, which others may have parts of as well.
     *
     * @param type the device's attribute of that name there; here it is a card's
     */
    record Share(String type) implements Kind {}

    /** A MIG instance. */
    record Instance() implements Kind {}

    /** Nothing. */
    record None(String reason) implements Kind {}
  }

  private final String className;
  private final String driver;
  @SuppressWarnings("ImmutableEnumChecker") // records of text
  private final Kind kind;

  ForeignClass(String className, String driver, Kind kind) {
    this.className = className;
    this.driver = driver;
    this.kind = kind;
  }

  static Optional<ForeignClass> of(String className) {
    return Stream.of(values()).filter(each -> each.className.equals(className)).findFirst();
  }

  /** A driver of theirs that a text speaks of. */
  static Optional<String> driverIn(String text) {
    return Stream.of(values()).map(ForeignClass::driver).filter(text::contains).findFirst();
  }

  /** The types that a driver's shares have. */
  static Set<String> typesOfShares(String driver) {
    return Stream.of(values()).filter(each -> each.driver.equals(driver)).map(ForeignClass::kind)
        .filter(Kind.Share.class::isInstance).map(share -> ((Kind.Share) share).type())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Its driver, which is the domain of its attributes and the driver of its configs, too. */
  String driver() {
    return driver;
  }

  Kind kind() {
    return kind;
  }

  /**
   * The class here that has the same devices, for a request of so much of their memory or of all; empty if none has.
   */
  Optional<String> equal(boolean ofPart) {
    return switch (kind) {
      case Kind.Card() -> Optional.of(ofPart ? Driver.SHARE_CLASS : Driver.WHOLE_CLASS);
      case Kind.Share(String _) -> Optional.of(Driver.SHARE_CLASS);
      case Kind.Instance() -> Optional.of(Driver.MIG_CLASS);
      case Kind.None(String _) -> Optional.empty();
    };
  }
}
