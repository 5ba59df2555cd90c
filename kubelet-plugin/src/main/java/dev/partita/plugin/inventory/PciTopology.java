package dev.partita.plugin.inventory;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which PCI devices there are, and where, from sysfs (Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param sysfs the folder that is /sys on the node; nothing is known if it is not there
 */
record PciTopology(Path sysfs) {
  private static final Pattern ROOT = Pattern.compile("(?:^|/)(pci[0-9a-f]{4,8}:[0-9a-f]{2})(?:/|$)");

  /** PCI's number of the vendor, and its class of display controllers: cards with and without an output. */
  private static final String NVIDIA = "0x10de";
  private static final String DISPLAY = "0x03";

  /** In the names of drivers that hand a card to a virtual machine: vfio-pci, nvgrace_gpu_vfio_pci, xen-pciback. */
  private static final Set<String> HANDED_ON = Set.of("vfio", "pci-stub", "pciback");

  /** The PCIe root complex, such as pci0000:17. */
  Optional<String> pcieRoot(String busId) {
    try {
      Matcher root = ROOT.matcher(Files.readSymbolicLink(device(busId)).toString());
      return root.find() ? Optional.of(root.group(1)) : Optional.empty();
    } catch (IOException | UnsupportedOperationException e) {
      return Optional.empty();
    }
  }

  /** The NUMA node; empty if the firmware does not tell. */
  Optional<Integer> numaNode(String busId) {
    try {
      int node = Integer.parseInt(Files.readString(device(busId).resolve("numa_node")).strip());
      return node < 0 ? Optional.empty() : Optional.of(node);
    } catch (IOException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * How many cards of NVIDIA's there are for the driver to list, whether it has them or not: all but those that are
   * handed to virtual machines. Empty if that cannot be told.
   */
  OptionalInt nvidiaCards() {
    if (!Files.isDirectory(devices())) {
      return Files.isDirectory(sysfs.resolve("bus")) ? OptionalInt.of(0) : OptionalInt.empty();
    }
    int cards = 0;
    try (DirectoryStream<Path> devices = Files.newDirectoryStream(devices())) {
      for (Path device : devices) {
        boolean isOfNvidia = Files.readString(device.resolve("vendor")).strip().equals(NVIDIA);
        boolean isCard = isOfNvidia && Files.readString(device.resolve("class")).startsWith(DISPLAY);
        cards += isCard && !isHandedOn(device) ? 1 : 0;
      }
      return OptionalInt.of(cards);
    } catch (IOException | DirectoryIteratorException e) {
      return OptionalInt.empty();
    }
  }

  private static boolean isHandedOn(Path device) throws IOException {
    try {
      String driver = String.valueOf(Files.readSymbolicLink(device.resolve("driver")).getFileName());
      return HANDED_ON.stream().anyMatch(driver::contains);
    } catch (NoSuchFileException e) {
      return false; // no driver has it
    }
  }

  private Path device(String busId) {
    return devices().resolve(busId);
  }

  private Path devices() {
    return sysfs.resolve("bus/pci/devices");
  }
}
