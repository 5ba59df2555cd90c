package dev.partita.plugin.inventory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a PCI device is, from sysfs (Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param sysfs the folder that is /sys on the node; nothing is known if it is not there
 */
record PciTopology(Path sysfs) {
  private static final Pattern ROOT = Pattern.compile("(?:^|/)(pci[0-9a-f]{4,8}:[0-9a-f]{2})(?:/|$)");

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

  private Path device(String busId) {
    return sysfs.resolve("bus/pci/devices").resolve(busId);
  }
}
