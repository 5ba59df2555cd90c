package dev.partita.plugin.step;

import dev.partita.api.Driver;
import dev.partita.api.config.OpaqueCard;
import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverNode;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.checkpoint.AskedSlice;
import dev.partita.plugin.checkpoint.MadeInstance;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.mps.MpsFolders;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.opaque.OpaqueCards;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Makes the CDI spec of a claim: what its containers get. All its devices have the driver in common, except its two
 * libraries that programs open: libcuda and NVML. A share adds the shadow libraries under these two names, and the
 * driver's own behind them. A whole card or a MIG instance adds the driver's own under their own names, and a whole
 * card the files by which Vulkan, EGL and OptiX find it; nothing would hold what these allocate to a share. What
 * depends on an image is left to {@link LibraryHook}.
 *
 * @param root where the driver is
 * @param extraMounts what containers need of the driver root besides
 * @param folders where shares are
 * @param metadata where device metadata is
 * @param mps where MPS daemons are
 */
public record ClaimSpec(
    DriverRoot root,
    List<ExtraDriverMount> extraMounts,
    ShareFolders folders,
    MetadataFolders metadata,
    MpsFolders mps) {
  /** Annotation of a CDI spec: the claim's {@code namespace/name}. */
  public static final String CLAIM_ANNOTATION = CdiName.CLAIM_ANNOTATION;

  /** Annotation of a CDI spec: the MIG instances that were made for the claim ({@link MadeInstance}). */
  static final String MADE_INSTANCES_ANNOTATION = Driver.NAME + "/made-instances";

  /** Annotation of a CDI spec: the time slices that the claim asks for ({@link AskedSlice}). */
  static final String TIME_SLICES_ANNOTATION = Driver.NAME + "/time-slices";

  /** Where the driver's own libraries lie behind the shadows: in their RUNPATH, and no folder that ldconfig reads. */
  private static final String BEHIND = "/usr/lib/partita/";

  /** An NVIDIA container runtime that is the default must not add cards of its own choice. */
  private static final String NO_CARDS = "NVIDIA_VISIBLE_DEVICES=void";

  private static final List<String> CUDA_NAMES = List.of(DriverFiles.CUDA_SONAME, "libcuda.so");
  private static final List<String> NVML_NAMES = List.of(DriverFiles.NVML_SONAME, "libnvidia-ml.so");

  private static final String IN_CONTAINER_QUOTA = "/etc/partita/shares/";
  private static final String IN_CONTAINER_USAGE = "/run/partita/shares/";

  public ClaimSpec {
    extraMounts = List.copyOf(extraMounts);
  }

  /** The spec of a claim that has opaque cards alone: nothing in it is of NVIDIA's driver. */
  public CdiSpec ofOpaque(PreparedClaim claim, OpaqueCards opaque) {
    return CdiSpec.of(CdiName.KIND, Map.of(CLAIM_ANNOTATION, claim.claim().qualifiedName()),
        claim.grants().stream().map(grant -> opaqueDevice(claim, grant, opaque)).toList(),
        ContainerEdits.of(List.of(NO_CARDS), List.of(), List.of()));
  }

  private CdiDevice opaqueDevice(PreparedClaim claim, Grant grant, OpaqueCards opaque) {
    OpaqueCard card = opaque.of(grant.card().uuid())
        .orElseThrow(() -> new IllegalStateException("no file lists opaque card " + grant.card().uuid()));
    return new CdiDevice(CdiName.of(claim.claim(), grant),
        OpaqueEdits.of(grant, card).then(ContainerEdits.of(List.of(), List.of(), metadata.mounts(claim, grant))));
  }

  /**
   * @param instances the claim's MIG instances, by share key
   * @param libraries the installed shadows and hook
   * @param opaque what containers of opaque cards get
   * @throws IllegalStateException if a card or an instance has no device node
   */
  public CdiSpec of(
      PreparedClaim claim,
      Map<String, GpuInstance> instances,
      DriverFiles driver,
      HookLibraries.Installed libraries,
      OpaqueCards opaque) {
    LibraryHook hook = new LibraryHook(libraries.hook(), driver.libraryFolder());
    List<CdiDevice> devices = new ArrayList<>();
    for (Grant grant : claim.grants()) {
      if (grant.isOpaque()) {
        devices.add(opaqueDevice(claim, grant, opaque));
        continue;
      }
      boolean shadowed = grant.share().isPresent() || claim.mixed();
      List<DeviceNode> nodes = new ArrayList<>(List.of(cardNode(grant, driver)));
      if (grant.mig().isPresent()) {
        nodes.addAll(instanceNodes(grant, Objects.requireNonNull(instances.get(grant.shareKey()), grant.device())));
      }
      ContainerEdits card = ContainerEdits.of(List.of(), nodes, List.of());
      ContainerEdits libraryMounts = shadowed
          ? shadowLibraryMounts(driver, libraries).then(hook.cover(forwardCompatible(claim, driver)))
          : ownLibraryMounts(driver).then(grant.mig().isPresent() ? ContainerEdits.NONE : graphics(driver));
      ContainerEdits share = grant.share().isPresent() ? shareEdits(claim, grant) : ContainerEdits.NONE;
      ContainerEdits daemon = grant.use().mps().map(its -> mps.edits(grant.card(), its)).orElse(ContainerEdits.NONE);
      ContainerEdits told = ContainerEdits.of(List.of(), List.of(), metadata.mounts(claim, grant));
      devices
          .add(new CdiDevice(CdiName.of(claim.claim(), grant),
              card.then(libraryMounts).then(share).then(daemon).then(told)));
    }
    return CdiSpec.of(CdiName.KIND, annotations(claim), devices,
        common(driver).then(hook.place(names(driver))));
  }

  private static Map<String, String> annotations(PreparedClaim claim) {
    Map<String, String> annotations = new TreeMap<>(Map.of(CLAIM_ANNOTATION, claim.claim().qualifiedName()));
    MadeInstance.text(claim).ifPresent(made -> annotations.put(MADE_INSTANCES_ANNOTATION, made));
    AskedSlice.text(claim).ifPresent(asked -> annotations.put(TIME_SLICES_ANNOTATION, asked));
    return annotations;
  }

  private ContainerEdits common(DriverFiles driver) {
    List<DeviceNode> nodes = driver.controlNodes().stream().map(DriverNode::toEdit).toList();
    List<Mount> mounts = new ArrayList<>();
    driver.mounted().filter(f -> !isCuda(f) && !isNvml(f)).forEach(f -> mounts.add(own(f)));
    for (ExtraDriverMount extra : extraMounts) {
      String host = root.onHost(extra.path());
      mounts.add(extra.writable() ? Mount.readWrite(host, extra.path()) : Mount.readOnly(host, extra.path()));
    }
    List<String> env = new ArrayList<>();
    env.add(NO_CARDS);
    // it asks ldconfig's cache, which nobody writes anew for the container
    env.add("TRITON_LIBCUDA_PATH=" + driver.libraryFolder());
    return ContainerEdits.of(env, nodes, mounts);
  }

  /** Every library that a container with one of the devices can have, by its name in the library folder. */
  private static List<String> names(DriverFiles driver) {
    return Stream.of(CUDA_NAMES.stream(), NVML_NAMES.stream(), driver.libraries().stream().map(DriverFile::name))
        .flatMap(names -> names)
        .distinct()
        .sorted()
        .toList();
  }

  private static ContainerEdits ownLibraryMounts(DriverFiles driver) {
    return ContainerEdits.of(
        List.of(),
        List.of(),
        driver.libraries().stream().filter(f -> isCuda(f) || isNvml(f)).map(ClaimSpec::own).toList());
  }

  private static ContainerEdits graphics(DriverFiles driver) {
    return ContainerEdits.of(List.of(), List.of(), driver.graphics().stream().map(ClaimSpec::own).toList());
  }

  private static ContainerEdits shadowLibraryMounts(DriverFiles driver, HookLibraries.Installed libraries) {
    List<Mount> mounts = new ArrayList<>();
    String folder = driver.libraryFolder();
    driver.cuda().ifPresent(f -> mounts.add(Mount.readOnly(f.hostPath(), BEHIND + "libcuda-real.so.1")));
    driver.nvml().ifPresent(f -> mounts.add(Mount.readOnly(f.hostPath(), BEHIND + "libnvidia-ml-real.so.1")));
    for (String name : CUDA_NAMES) {
      mounts.add(Mount.readOnly(libraries.cuda().toString(), folder + "/" + name));
    }
    for (String name : NVML_NAMES) {
      mounts.add(Mount.readOnly(libraries.nvml().toString(), folder + "/" + name));
    }
    return ContainerEdits.of(List.of(), List.of(), mounts);
  }

  /**
   * The driver's version, where its cards run libraries of newer drivers. GeForce cards do not: there a compat libcuda
   * ends with CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (CUDA's guide to compatibility).
   */
  private static Optional<String> forwardCompatible(PreparedClaim claim, DriverFiles driver) {
    boolean geForce = claim.grants().stream().anyMatch(grant -> grant.card().productName().contains("GeForce"));
    return geForce ? Optional.empty() : Optional.of(driver.version());
  }

  private ContainerEdits shareEdits(PreparedClaim claim, Grant grant) {
    String uid = claim.claim().uid();
    String key = grant.shareKey();
    // The region is mounted as a file: in a folder, root of a container could put another one in its place.
    return ContainerEdits.of(
        claim.env().getOrDefault(key, List.of()),
        List.of(),
        List.of(
            Mount.readOnly(folders.quotaFolder(uid, key).toString(), IN_CONTAINER_QUOTA + key),
            Mount.readWrite(
                folders.usageFile(uid, key).toString(), IN_CONTAINER_USAGE + key + "/" + ShareFolders.USAGE_NAME)));
  }

  private static DeviceNode cardNode(Grant grant, DriverFiles driver) {
    DriverNode node = driver.cardNodes().get(grant.card().minor());
    if (node == null) {
      throw new IllegalStateException(
          "card " + grant.card().uuid() + " has no device node /dev/nvidia" + grant.card().minor()
              + " below the driver root");
    }
    return node.toEdit();
  }

  /**
   * The device nodes of an instance. Whoever can open the card's node sees those of its instances whose own two nodes
   * he can open, and no others.
   */
  private List<DeviceNode> instanceNodes(Grant grant, GpuInstance instance) {
    int compute = instance.computeInstances().getFirst().id();
    return root.migNodes(grant.card().minor(), instance.id(), compute)
        .orElseThrow(
            () -> new IllegalStateException(
                "the driver does not say which device nodes open MIG instance " + instance.id() + "/" + compute
                    + " of card " + grant.card().uuid()
                    + " (/proc/driver/nvidia-caps/mig-minors); nvidia-modprobe makes them"))
        .stream()
        .map(DriverNode::toEdit)
        .toList();
  }

  private static boolean isCuda(DriverFile file) {
    return file.name().startsWith("libcuda.so");
  }

  private static boolean isNvml(DriverFile file) {
    return file.name().startsWith("libnvidia-ml.so");
  }

  private static Mount own(DriverFile file) {
    return Mount.readOnly(file.hostPath(), file.path());
  }
}
