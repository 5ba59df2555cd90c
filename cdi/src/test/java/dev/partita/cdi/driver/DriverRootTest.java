package dev.partita.cdi.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverRootTest {
  private static final String FOLDER = "usr/lib/x86_64-linux-gnu/";

  @TempDir Path root;

  @Test
  void findsADriverWithAllItsNames() throws IOException {
    library("libcuda.so.580.95.05", "libcuda.so.1", "libcuda.so");
    library("libnvidia-ml.so.580.95.05", "libnvidia-ml.so.1");
    library("libnvidia-ptxjitcompiler.so.580.95.05", "libnvidia-ptxjitcompiler.so.1");
    library("libnvidia-egl-wayland.so.1.1.19", "libnvidia-egl-wayland.so.1");
    library("libc.so.6");
    Files.createDirectories(root.resolve("usr/bin"));
    Files.createFile(root.resolve("usr/bin/nvidia-smi"));
    node("nvidia0");
    node("nvidia12345");
    node("nvidiactl");
    Files.createFile(root.resolve("dev/nvidia3"));
    Files.createSymbolicLink(root.resolve("dev/nvidia-uvm"), Path.of("/dev/there-is-no-such-node"));

    DriverFiles files = found();

    assertThat(files.version()).isEqualTo("580.95.05");
    assertThat(files.libraryFolder()).isEqualTo("/usr/lib/x86_64-linux-gnu");
    assertThat(files.libraries())
        .extracting(DriverFile::name)
        .containsExactly(
            "libcuda.so",
            "libcuda.so.1",
            "libcuda.so.580.95.05",
            "libnvidia-ml.so.1",
            "libnvidia-ml.so.580.95.05",
            "libnvidia-ptxjitcompiler.so.1",
            "libnvidia-ptxjitcompiler.so.580.95.05");
    assertThat(files.libraries())
        .filteredOn(f -> f.name().startsWith("libcuda"))
        .extracting(DriverFile::hostPath)
        .containsOnly("/run/driver/" + FOLDER + "libcuda.so.580.95.05");
    assertThat(files.programs()).extracting(DriverFile::hostPath).containsExactly("/run/driver/usr/bin/nvidia-smi");
    assertThat(files.controlNodes()).extracting(DriverNode::path).containsExactly("/dev/nvidiactl");
    assertThat(files.cardNodes().keySet()).containsExactly(0, 12345);
    assertThat(files.cardNodes().get(12345)).isEqualTo(new DriverNode("/dev/nvidia12345", "/dev/null", 1, 3, 0666));
  }

  @Test
  void anInstanceIsOpenedByTheNodesThatTheDriverListsWhetherTheyAreThereOrNot() throws IOException {
    Files.createDirectories(root.resolve("proc/driver/nvidia-caps"));
    Files.writeString(root.resolve("proc/driver/nvidia-caps/mig-minors"),
        "config 1\nmonitor 2\ngpu1/gi7/access 201\ngpu1/gi7/ci0/access 202\ngpu1/gi70/access 9\n");
    Files.writeString(root.resolve("proc/devices"),
        "Character devices:\n  1 mem\n195 nvidia-frontend\n235 nvidia-caps\n");
    Files.createDirectories(root.resolve("dev/nvidia-caps"));
    node("nvidia-caps/nvidia-cap201");
    DriverRoot driver = new DriverRoot(root, "/run/driver");

    assertThat(driver.migNodes(1, 7, 0))
        .hasValue(
            List.of(
                new DriverNode("/dev/nvidia-caps/nvidia-cap201", "/dev/null", 1, 3, 0666),
                new DriverNode("/dev/nvidia-caps/nvidia-cap202", "/run/driver/dev/nvidia-caps/nvidia-cap202", 235, 202,
                    0444)));
    assertThat(driver.migNodes(1, 8, 0)).as("not listed").isEmpty();
    assertThat(driver.migNodes(0, 7, 0)).as("another card's").isEmpty();
  }

  @Test
  void theVersionIsTheOneThatTheSonameLeadsTo() throws IOException {
    library("libcuda.so.570.1");
    library("libcuda.so.580.95.05", "libcuda.so.1");
    library("libnvidia-ml.so.580.95.05");
    assertThat(found().version()).isEqualTo("580.95.05");
  }

  @Test
  void anAbsoluteLinkMeansAPathBelowTheRoot() throws IOException {
    library("libcuda.so.580.95.05");
    library("libnvidia-ml.so.580.95.05");
    Files.createDirectories(root.resolve("opt/driver"));
    Files.createFile(root.resolve("opt/driver/libnvidia-nvvm.so.580.95.05"));
    Files.createSymbolicLink(root.resolve(FOLDER + "libnvidia-nvvm.so.4"),
        Path.of("/opt/driver/libnvidia-nvvm.so.580.95.05"));
    assertThat(found().library("libnvidia-nvvm.so.4").orElseThrow().hostPath())
        .isEqualTo("/run/driver/opt/driver/libnvidia-nvvm.so.580.95.05");
  }

  @Test
  void linksBesideTheLinkersPathLeaveTheDriverToTheFolderThatHasAllOfIt() throws IOException {
    Path whole = Files.createDirectories(root.resolve("usr/local/nvidia/lib64"));
    Path links = Files.createDirectories(root.resolve("usr/lib"));
    for (String name : List.of("libcuda.so", "libnvidia-ml.so")) {
      Files.createFile(whole.resolve(name + ".580.159.04"));
      Files.createSymbolicLink(whole.resolve(name + ".1"), Path.of(name + ".580.159.04"));
      Files.createSymbolicLink(links.resolve(name + ".1"), whole.resolve(name + ".1"));
    }
    assertThat(found().libraryFolder()).isEqualTo("/usr/local/nvidia/lib64");
    assertThat(found().nvml()).isPresent();
  }

  /** The linker's folder has links to links of update-alternatives, all of them absolute. */
  @Test
  void debiansAlternativesLeadToTheFolderThatHasAllOfIt() throws IOException {
    Path whole = Files.createDirectories(root.resolve("usr/lib/x86_64-linux-gnu/nvidia/current"));
    Path alternatives = Files.createDirectories(root.resolve("etc/alternatives"));
    for (String name : List.of("libcuda.so", "libnvidia-ml.so")) {
      Files.createFile(whole.resolve(name + ".550.163.01"));
      Files.createSymbolicLink(whole.resolve(name + ".1"), Path.of(name + ".550.163.01"));
      Files.createSymbolicLink(alternatives.resolve("glx--" + name + ".1"),
          Path.of("/usr/lib/x86_64-linux-gnu/nvidia/current/" + name + ".1"));
      Files.createSymbolicLink(root.resolve("usr/lib/x86_64-linux-gnu/" + name + ".1"),
          Path.of("/etc/alternatives/glx--" + name + ".1"));
    }
    assertThat(found().libraryFolder()).isEqualTo("/usr/lib/x86_64-linux-gnu/nvidia/current");
    assertThat(found().nvml().orElseThrow().hostPath())
        .isEqualTo("/run/driver/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.550.163.01");
  }

  @Test
  void saysWhatIsMissingAndWhatToDo() throws IOException {
    assertThat(message(new DriverRoot(root.resolve("nothing"), "/run/driver"))).contains("/run/driver is not a folder",
        "set the driver root");
    assertThat(message(new DriverRoot(root, "/run/driver"))).contains("no libcuda.so.<version> below /run/driver",
        "install the NVIDIA driver");
    library("libcuda.so.580.95.05");
    assertThat(message(new DriverRoot(root, "/run/driver"))).contains("libnvidia-ml.so.580.95.05 is not");
  }

  /** Where platforms have the driver, as their own documents and the issues of their projects say (see install.md). */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "a distribution of Debian's kind as on AKS, /, /usr/lib/x86_64-linux-gnu, /usr/bin, /dev",
    "Debian's own packages, /, /usr/lib/x86_64-linux-gnu/nvidia/current, /usr/bin, /dev",
    "Debian's own packages on arm64, /, /usr/lib/aarch64-linux-gnu/nvidia/current, /usr/bin, /dev",
    "one of Red Hat's kind as on EKS, /, /usr/lib64, /usr/bin, /dev",
    "arm64, /, /usr/lib/aarch64-linux-gnu, /usr/bin, /dev",
    "a driver container of the GPU operator, /run/nvidia/driver, /usr/lib64, /usr/bin, /run/nvidia/driver/dev",
    "one that leaves the device nodes to the host, /run/nvidia/driver, /usr/lib/x86_64-linux-gnu, /usr/bin, /dev",
    "GKE on Container-Optimized OS, /home/kubernetes/bin/nvidia, /lib64, /bin, /dev",
    "Bottlerocket, /, /usr/lib, /usr/bin, /dev",
    "Bottlerocket before June 2026, /, /usr/lib/nvidia/tesla, /usr/bin, /dev",
    "Talos, /, /usr/local/glibc/usr/lib, /usr/local/bin, /dev"})
  void isFoundBelowTheNodesRootWhereverAPlatformPutsIt(
      String platform,
      String place,
      String libraries,
      String programs,
      String devices) throws IOException {
    Path driver = root.resolve("." + place).normalize();
    for (String library : List.of("libcuda.so", "libnvidia-ml.so")) {
      file(driver.resolve("." + libraries + "/" + library + ".580.95.05").normalize());
      Files.createSymbolicLink(driver.resolve("." + libraries + "/" + library + ".1").normalize(),
          Path.of(library + ".580.95.05"));
    }
    file(driver.resolve("." + programs + "/nvidia-smi").normalize());
    for (String node : List.of("nvidia0", "nvidiactl")) {
      Path link = root.resolve("." + devices + "/" + node).normalize();
      Files.createDirectories(Objects.requireNonNull(link.getParent()));
      Files.createSymbolicLink(link, Path.of("/dev/null"));
    }

    DriverSearch search = new DriverRoot(root, "/").search();

    assertThat(search).isInstanceOf(DriverSearch.Found.class);
    DriverFiles files = ((DriverSearch.Found) search).files();
    String below = place.equals("/") ? "" : place;
    assertThat(files.version()).isEqualTo("580.95.05");
    assertThat(files.libraryFolder()).as("as a container sees it").isEqualTo(libraries);
    assertThat(files.cuda().orElseThrow().hostPath()).isEqualTo(below + libraries + "/libcuda.so.580.95.05");
    assertThat(files.nvml().orElseThrow().localPath()).isRegularFile();
    assertThat(files.programs()).extracting(DriverFile::hostPath).containsExactly(below + programs + "/nvidia-smi");
    assertThat(files.controlNodes()).extracting(DriverNode::path).containsExactly("/dev/nvidiactl");
    assertThat(files.cardNodes().keySet()).containsExactly(0);
  }

  @ParameterizedTest
  @CsvSource({
    "usr/share/vulkan/icd.d/nvidia_icd.json, /etc/vulkan/icd.d/nvidia_icd.json",
    "etc/vulkan/icd.d/nvidia_icd.json, /etc/vulkan/icd.d/nvidia_icd.json",
    "usr/share/vulkan/icd.d/nvidia_icd.x86_64.json, /etc/vulkan/icd.d/nvidia_icd.json",
    "vulkan/icd.d/nvidia_icd.json, /etc/vulkan/icd.d/nvidia_icd.json",
    "usr/share/vulkan/implicit_layer.d/nvidia_layers.json, /etc/vulkan/implicit_layer.d/nvidia_layers.json",
    "usr/share/glvnd/egl_vendor.d/10_nvidia.json, /usr/share/glvnd/egl_vendor.d/10_nvidia.json",
    "usr/share/nvidia/nvoptix.bin, /usr/share/nvidia/nvoptix.bin"})
  void whatTellsProgramsOfTheDriversGraphicsIsFoundWhereDriversHaveIt(String place, String inContainer)
      throws IOException {
    library("libcuda.so.580.95.05");
    library("libnvidia-ml.so.580.95.05");
    assertThat(found().graphics()).isEmpty();
    file(root.resolve(place));
    assertThat(found().graphics())
        .containsExactly(new DriverFile(inContainer, "/run/driver/" + place, root.resolve(place)));
    assertThat(found().mounted()).extracting(DriverFile::path).as("not for every container")
        .doesNotContain(inContainer);
  }

  @Test
  void oneFileTellsOfVulkanThoughThereAreSeveral() throws IOException {
    library("libcuda.so.580.95.05");
    library("libnvidia-ml.so.580.95.05");
    file(root.resolve("usr/share/vulkan/icd.d/nvidia_icd.x86_64.json"));
    file(root.resolve("usr/share/vulkan/icd.d/nvidia_icd.json"));
    DriverFiles files = found();
    assertThat(files.graphics()).extracting(DriverFile::hostPath)
        .containsExactly("/run/driver/usr/share/vulkan/icd.d/nvidia_icd.json");
    assertThat(files.gone()).isEmpty();
    Files.delete(root.resolve("usr/share/vulkan/icd.d/nvidia_icd.json"));
    assertThat(files.gone()).isPresent();
  }

  @Test
  void theHostsOwnDriverIsPreferredAndOneThatIsNotWholeIsPassedOver() throws IOException {
    library("libcuda.so.580.95.05");
    file(root.resolve("run/nvidia/driver/usr/lib64/libcuda.so.570.1"));
    file(root.resolve("run/nvidia/driver/usr/lib64/libnvidia-ml.so.570.1"));
    assertThat(found().version()).isEqualTo("570.1");
    library("libnvidia-ml.so.580.95.05");
    assertThat(found().version()).isEqualTo("580.95.05");
  }

  private static String message(DriverRoot driver) {
    assertThat(driver.search()).isInstanceOf(DriverSearch.NotFound.class);
    return ((DriverSearch.NotFound) driver.search()).message();
  }

  private DriverFiles found() {
    DriverSearch search = new DriverRoot(root, "/run/driver").search();
    assertThat(search).isInstanceOf(DriverSearch.Found.class);
    return ((DriverSearch.Found) search).files();
  }

  private void library(String file, String... links) throws IOException {
    Files.createDirectories(root.resolve(FOLDER));
    Files.createFile(root.resolve(FOLDER + file));
    for (String link : links) {
      Files.createSymbolicLink(root.resolve(FOLDER + link), Path.of(file));
    }
  }

  private static void file(Path file) throws IOException {
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.createFile(file);
  }

  private void node(String name) throws IOException {
    Files.createDirectories(root.resolve("dev"));
    Files.createSymbolicLink(root.resolve("dev").resolve(name), Path.of("/dev/null"));
  }
}
