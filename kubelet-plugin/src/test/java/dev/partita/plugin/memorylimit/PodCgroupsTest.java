package dev.partita.plugin.memorylimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodCgroupsTest {
  private static final String POD = "6a2f41a3-c54c-4ce8-92d2-0324e1c32e22";
  private static final String SLICE_POD = "6a2f41a3_c54c_4ce8_92d2_0324e1c32e22";

  @TempDir Path root;
  private final AtomicLong now = new AtomicLong();
  private PodCgroups cgroups = new PodCgroups(Path.of("/none"), now::get);

  @BeforeEach
  void make() {
    cgroups = new PodCgroups(root, now::get);
  }

  @Test
  void aPodOfEachQualityOfServiceIsFoundWithTheCgroupfsDriver() throws IOException {
    folder("system.slice/containerd.service");
    Path guaranteed = folder("kubepods/pod" + POD);
    Path burstable = folder("kubepods/burstable/pod" + POD.replace('6', '7'));
    Path bestEffort = folder("kubepods/besteffort/pod" + POD.replace('6', '8'));
    assertThat(cgroups.of(POD)).contains(guaranteed);
    assertThat(cgroups.of(POD.replace('6', '7'))).contains(burstable);
    assertThat(cgroups.of(POD.replace('6', '8'))).contains(bestEffort);
  }

  @Test
  void andWithTheSystemdDriver() throws IOException {
    Path guaranteed = folder("kubepods.slice/kubepods-pod" + SLICE_POD + ".slice");
    String other = SLICE_POD.replace('6', '7');
    Path bestEffort =
        folder("kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + other + ".slice");
    assertThat(cgroups.of(POD)).contains(guaranteed);
    assertThat(cgroups.of(POD.replace('6', '7'))).contains(bestEffort);
  }

  @Test
  void kubeletsOwnRootMayLieDeeper() throws IOException {
    Path pod = folder("docker/4711/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
        + "kubelet-kubepods-burstable-pod" + SLICE_POD + ".slice");
    assertThat(cgroups.of(POD)).contains(pod);
  }

  @Test
  void aFolderThatAContainerMadeInItsOwnCgroupIsNoPods() throws IOException {
    folder("kubepods/besteffort/pod" + POD.replace('6', '7') + "/container/kubepods/pod" + POD);
    assertThat(cgroups.of(POD)).isEmpty();
  }

  @Test
  void aPodThatHasNoneIsLookedForInTheWholeTreeNotMoreThanTwiceAMinute() throws IOException {
    assertThat(cgroups.of(POD)).isEmpty();
    Path pod = folder("kubepods/pod" + POD); // kubelet starts after the plugin
    assertThat(cgroups.of(POD)).isEmpty();
    now.addAndGet(Duration.ofSeconds(30).toNanos());
    assertThat(cgroups.of(POD)).contains(pod);
    Path next = folder("kubepods/pod" + POD.replace('6', '7'));
    assertThat(cgroups.of(POD.replace('6', '7'))).contains(next);
  }

  @Test
  void whatIsNoUidIsNoPath() throws IOException {
    folder("kubepods/pod");
    assertThat(cgroups.of("../../system.slice")).isEmpty();
    assertThat(cgroups.of("")).isEmpty();
  }

  private Path folder(String path) throws IOException {
    return Files.createDirectories(root.resolve(path));
  }
}
