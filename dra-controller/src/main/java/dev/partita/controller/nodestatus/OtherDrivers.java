package dev.partita.controller.nodestatus;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.controller.watch.OtherDevice;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttribute;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says which cards of a node claims have by other DRA drivers. A device is a card by what its driver publishes of it:
 * NVIDIA's driver, HAMi's and vgpu-manager's give a card's UUID as {@code uuid} (the last of them in small letters),
 * that of a MIG instance's card as {@code parentUUID}, and of a card that a virtual machine gets whole its place on the
 * PCI bus alone; so does AMD's driver ({@code pciAddr}).
 */
final class OtherDrivers {
  /** Attributes with a card's or a MIG instance's UUID, in small letters. */
  private static final Set<String> UUIDS = Set.of("uuid", "parentuuid", "gpu_uuid");

  /** Attributes with a place on the PCI bus, in small letters; the first is Kubernetes' own. */
  private static final Set<String> BUS_IDS =
      Set.of("resource.kubernetes.io/pcibusid", "pcibusid", "pciebusid", "pciaddr");

  private static final Pattern BUS_ID = Pattern.compile("0*([0-9a-f]{1,8}):([0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])");

  /** So many devices are told of one card: whoever publishes more is told of by these. */
  static final int MOST_OF_A_CARD = 16;

  private OtherDrivers() {}

  /**
   * What was found.
   *
   * @param devices by card, driver, pool and name
   * @param problems what could not be read of what the drivers publish
   */
  record Found(List<OtherDriverDevice> devices, SortedSet<String> problems) {}

  /**
   * Looks at a node. A device that is published no more, as when its driver's plugin has ended, is what it was before:
   * a pod may have it still.
   *
   * @param cards of the node
   * @param slices other drivers' slices of the node
   * @param claims that may have something of them
   * @param before what was found last
   */
  static Found on(
      List<Gpu> cards,
      Collection<ResourceSlice> slices,
      Collection<ResourceClaim> claims,
      List<OtherDriverDevice> before) {
    Map<OtherDevice, Integer> claimed = new HashMap<>();
    claims.forEach(claim -> OtherDevice.of(claim).forEach(device -> claimed.merge(device, 1, Integer::sum)));
    SortedSet<String> problems = new TreeSet<>();
    Map<OtherDevice, Set<String>> published = new HashMap<>();
    for (ResourceSlice slice : slices) {
      OtherDevice.Pool pool =
          new OtherDevice.Pool(slice.getSpec().getDriver(), slice.getSpec().getPool().getName());
      for (Device device : slice.getSpec().getDevices()) {
        OtherDevice its = new OtherDevice(pool, device.getName());
        if (claimed.containsKey(its)) {
          Names names = Names.of(pool.driver(), device, problems);
          published.computeIfAbsent(its, _ -> new TreeSet<>())
              .addAll(cards.stream().filter(names::are).map(Gpu::uuid).toList());
        }
      }
    }
    Set<OtherDevice> seen = Set.copyOf(published.keySet());
    before.stream().filter(device -> cards.stream().anyMatch(card -> card.uuid().equals(device.uuid())))
        .forEach(device -> {
          OtherDevice its = new OtherDevice(new OtherDevice.Pool(device.driver(), device.pool()), device.device());
          if (claimed.containsKey(its) && !seen.contains(its)) {
            published.computeIfAbsent(its, _ -> new TreeSet<>()).add(device.uuid());
          }
        });
    return new Found(bounded(published, claimed), problems);
  }

  private static List<OtherDriverDevice> bounded(
      Map<OtherDevice, Set<String>> published,
      Map<OtherDevice, Integer> claimed) {
    Map<String, Integer> ofCard = new HashMap<>();
    List<OtherDriverDevice> devices = new ArrayList<>();
    published.entrySet().stream()
        .flatMap(entry -> entry.getValue().stream().map(uuid -> device(uuid, entry.getKey(), claimed)))
        .sorted(Comparator.comparing(OtherDriverDevice::uuid).thenComparing(OtherDriverDevice::driver)
            .thenComparing(OtherDriverDevice::pool).thenComparing(OtherDriverDevice::device))
        .filter(device -> ofCard.merge(device.uuid(), 1, Integer::sum) <= MOST_OF_A_CARD)
        .forEach(devices::add);
    return devices;
  }

  private static OtherDriverDevice device(String uuid, OtherDevice device, Map<OtherDevice, Integer> claimed) {
    return new OtherDriverDevice(uuid, device.pool().driver(), device.pool().name(), device.device(),
        Objects.requireNonNull(claimed.get(device)));
  }

  /** By what a device's driver says which card it is; in small letters. */
  private record Names(Set<String> uuids, Set<String> busIds) {
    static Names of(String driver, Device device, SortedSet<String> problems) {
      Names names = new Names(new TreeSet<>(), new TreeSet<>());
      @Nullable Map<String, DeviceAttribute> attributes = device.getAttributes();
      if (attributes != null) {
        attributes.forEach((attribute, value) -> {
          String name = withoutDriver(driver, attribute).toLowerCase(Locale.ROOT);
          if (!UUIDS.contains(name) && !BUS_IDS.contains(name)) {
            return;
          }
          @Nullable String text = value == null ? null : value.getString();
          if (text == null) {
            problems.add("the attribute " + attribute + " of devices of " + driver
                + " is no string: which cards they are is not known by it");
          } else if (UUIDS.contains(name)) {
            names.uuids().add(text.toLowerCase(Locale.ROOT));
          } else {
            names.busIds().add(busId(text));
          }
        });
      }
      return names;
    }

    boolean are(Gpu card) {
      return Stream
          .concat(Stream.of(card.uuid()), card.staticMigInstances().stream().map(StaticMigInstance::uuid))
          .filter(uuid -> !uuid.isEmpty()).anyMatch(uuid -> uuids.contains(uuid.toLowerCase(Locale.ROOT)))
          || (card.pciBusId() != null && busIds.contains(busId(card.pciBusId())));
    }

    /** An attribute without a domain is of its driver's domain (resource.k8s.io/v1, QualifiedName). */
    private static String withoutDriver(String driver, String attribute) {
      return attribute.startsWith(driver + "/") ? attribute.substring(driver.length() + 1) : attribute;
    }

    /** With no more zeros before the domain than it needs: NVML writes eight digits, the kernel four. */
    private static String busId(String text) {
      Matcher matcher = BUS_ID.matcher(text.toLowerCase(Locale.ROOT));
      return matcher.matches() ? matcher.group(1) + ":" + matcher.group(2) : text.toLowerCase(Locale.ROOT);
    }
  }
}
