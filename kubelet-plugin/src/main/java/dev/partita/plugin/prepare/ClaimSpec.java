package dev.partita.plugin.prepare;

import dev.partita.api.Driver;
import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverNode;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.ExtraDriverMount;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What containers of a claim get. Common to all its devices: the driver but for its two front doors, libcuda and NVML. With a
 * share come the shadows under the names of those two, and the driver's own ones behind them; with a whole card the driver's
 * own under their own names.
 *
 * @param root where the driver is
 * @param extraMounts what containers need of the driver root besides
 * @param folders where shares are
 */
public record ClaimSpec(DriverRoot root, List<ExtraDriverMount> extraMounts, ShareFolders folders) {
  /** Annotation of a CDI spec: the claim's {@code namespace/name}. */
  public static final String CLAIM_ANNOTATION = Driver.NAME + "/claim";

  /** Where the driver's own libraries lie behind the shadows, below the library folder: a folder that ldconfig does not read. */
  private static final String BEHIND = "/partita/";

  private static final String IN_CONTAINER_QUOTA = "/etc/partita/shares/";
  private static final String IN_CONTAINER_USAGE = "/run/partita/shares/";

  public ClaimSpec {
    extraMounts = List.copyOf(extraMounts);
  }

  /**
   * @param libraries the installed shadows; not needed if the claim has no shares and is not mixed
   * @throws IllegalStateException if a card has no device node below the driver root
   */
  public CdiSpec of(PreparedClaim claim, DriverFiles driver, Optional<HookLibraries.Installed> libraries) {
    List<CdiDevice> devices = new ArrayList<>();
    for (Grant grant : claim.grants()) {
      boolean shadowed = grant.share().isPresent() || claim.mixed();
      ContainerEdits card = ContainerEdits.of(List.of(), List.of(cardNode(grant, driver)), List.of());
      ContainerEdits doors =
          shadowed
              ? shadowDoors(driver, libraries.orElseThrow(() -> new IllegalStateException("shadows are installed before")))
              : ownDoors(driver);
      ContainerEdits share = grant.share().isPresent() ? shareEdits(claim, grant) : ContainerEdits.NONE;
      devices.add(new CdiDevice(CdiName.of(claim.claim(), grant), card.then(doors).then(share)));
    }
    return CdiSpec.of(CdiName.KIND, Map.of(CLAIM_ANNOTATION, claim.claim().qualifiedName()), devices, common(driver));
  }

  private ContainerEdits common(DriverFiles driver) {
    List<DeviceNode> nodes = driver.controlNodes().stream().map(DriverNode::toEdit).toList();
    List<Mount> mounts = new ArrayList<>();
    driver.libraries().stream().filter(f -> !isCuda(f) && !isNvml(f)).forEach(f -> mounts.add(own(f)));
    driver.programs().forEach(f -> mounts.add(own(f)));
    for (ExtraDriverMount extra : extraMounts) {
      String host = root.onHost(extra.path());
      mounts.add(extra.writable() ? Mount.readWrite(host, extra.path()) : Mount.readOnly(host, extra.path()));
    }
    // An NVIDIA container runtime that is the default must not add cards of its own choice.
    return ContainerEdits.of(List.of("NVIDIA_VISIBLE_DEVICES=void"), nodes, mounts);
  }

  private static ContainerEdits ownDoors(DriverFiles driver) {
    return ContainerEdits.of(
        List.of(),
        List.of(),
        driver.libraries().stream().filter(f -> isCuda(f) || isNvml(f)).map(ClaimSpec::own).toList());
  }

  private static ContainerEdits shadowDoors(DriverFiles driver, HookLibraries.Installed libraries) {
    List<Mount> mounts = new ArrayList<>();
    String folder = driver.libraryFolder();
    driver.cuda().ifPresent(f -> mounts.add(Mount.readOnly(f.hostPath(), folder + BEHIND + "libcuda-real.so.1")));
    driver.nvml().ifPresent(f -> mounts.add(Mount.readOnly(f.hostPath(), folder + BEHIND + "libnvidia-ml-real.so.1")));
    for (String name : List.of(DriverFiles.CUDA_SONAME, "libcuda.so")) {
      mounts.add(Mount.readOnly(libraries.cuda().toString(), folder + "/" + name));
    }
    for (String name : List.of(DriverFiles.NVML_SONAME, "libnvidia-ml.so")) {
      mounts.add(Mount.readOnly(libraries.nvml().toString(), folder + "/" + name));
    }
    return ContainerEdits.of(List.of(), List.of(), mounts);
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
          "card " + grant.card().uuid() + " has no device node /dev/nvidia" + grant.card().minor() + " below the driver root");
    }
    return node.toEdit();
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
