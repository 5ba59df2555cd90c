package dev.partita.plugin.leftover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.Mount;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverNode;
import dev.partita.cdi.driver.GraphicsFile;
import dev.partita.plugin.claim.CdiName;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SpecRenewalTest {
  private static final String VULKAN = GraphicsFile.VULKAN_DRIVER.path();
  private static final DriverFile LIBRARY = file("/usr/lib64/libcuda.so.580.1", "/usr/lib64/libcuda.so.580.1");

  @Test
  void aSpecIsOfTheDriverIfItNamesItsLibraries() {
    assertThat(SpecRenewal.names(spec(LIBRARY), driver())).isTrue();
    assertThat(SpecRenewal.names(spec(file("/usr/lib64/libcuda.so.570.1", "/usr/lib64/libcuda.so.570.1")), driver()))
        .isFalse();
  }

  @Test
  void aFileForGraphicsThatIsElsewhereOrGoneMakesASpecStaleAndOneThatItLeavesOutDoesNot() {
    DriverFile there = file(VULKAN, "/usr/share/vulkan/icd.d/nvidia_icd.json");
    assertThat(SpecRenewal.names(spec(LIBRARY, there), driver(there))).isTrue();
    assertThat(SpecRenewal.names(spec(LIBRARY), driver(there))).as("a share's").isTrue();
    assertThat(SpecRenewal.names(spec(LIBRARY, there), driver())).as("gone").isFalse();
    assertThat(SpecRenewal.names(spec(LIBRARY, there), driver(file(VULKAN, VULKAN)))).as("elsewhere").isFalse();
  }

  /** The kernel gives nvidia-uvm any number that is free, and its node may be made after the first claim's spec. */
  @Test
  void aSpecIsStaleWithoutADeviceNodeThatTheDriverHasAndWithTheNumbersOfAnEarlierOne() {
    DriverNode uvm = node("/dev/nvidia-uvm", 511, 0);
    DriverNode card = node("/dev/nvidia1", 195, 1);
    assertThat(SpecRenewal.names(onNodes(uvm, card), withNodes(uvm, card))).isTrue();
    assertThat(SpecRenewal.names(onNodes(card), withNodes(uvm, card))).as("made later").isFalse();
    assertThat(SpecRenewal.names(onNodes(uvm, card), withNodes(node("/dev/nvidia-uvm", 510, 0), card)))
        .as("loaded anew").isFalse();
    assertThat(SpecRenewal.names(onNodes(uvm, card), withNodes(uvm, node("/dev/nvidia1", 234, 1)))).isFalse();
    assertThat(SpecRenewal.names(onNodes(uvm, card), withNodes(uvm, node("/dev/nvidia0", 195, 0))))
        .as("a card that is away, whose spec others see to").isTrue();
  }

  private static DriverFiles driver(DriverFile... graphics) {
    return driver(List.of(graphics), List.of(), new TreeMap<>());
  }

  private static DriverFiles withNodes(DriverNode control, DriverNode card) {
    return driver(List.of(), List.of(control), new TreeMap<>(Map.of((int) card.minor(), card)));
  }

  private static DriverFiles driver(
      List<DriverFile> graphics,
      List<DriverNode> controlNodes,
      SortedMap<Integer, DriverNode> cardNodes) {
    return new DriverFiles("580.1", "/usr/lib64", List.of(LIBRARY), List.of(), graphics, controlNodes, cardNodes);
  }

  private static CdiSpec onNodes(DriverNode... nodes) {
    return CdiSpec.of(CdiName.KIND, Map.of(), spec(LIBRARY).devices(),
        ContainerEdits.of(List.of(), Stream.of(nodes).map(DriverNode::toEdit).toList(), List.of()));
  }

  private static DriverNode node(String path, long major, long minor) {
    return new DriverNode(path, path, major, minor, 0666);
  }

  private static CdiSpec spec(DriverFile... files) {
    List<Mount> mounts = Stream.of(files).map(file -> Mount.readOnly(file.hostPath(), file.path())).toList();
    return CdiSpec.of(CdiName.KIND, Map.of(),
        List.of(new CdiDevice("uid-1-k", ContainerEdits.of(List.of(), List.of(), mounts))), ContainerEdits.NONE);
  }

  private static DriverFile file(String path, String onHost) {
    return new DriverFile(path, onHost, Path.of("/driver-root" + onHost));
  }
}
