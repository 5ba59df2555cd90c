package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostProcessesTest {
  /** What /proc/pid/stat has as flags: PF_EXITING, and PF_RANDOMIZE as every process has it. */
  private static final long RUNNING = 0x400000;

  private static final long EXITING = RUNNING | 4;

  @TempDir @SuppressWarnings("NullAway.Init") Path proc;

  @Test
  void theStartIsTheTwentySecondFieldWhateverTheProgramIsCalled() throws IOException {
    file("stat", "7 (a) b (c ) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n");
    assertThat(host().identity(7)).hasValue(new ProcessIdentity(7, 987654));
    file("stat", "7 (x");
    assertThat(host().identity(7)).isEmpty();
    assertThat(host().identity(8)).isEmpty();
    assertThat(new HostProcesses(Path.of("/proc")).identity(ProcessHandle.current().pid())).isPresent();
  }

  @Test
  void aProcessIsEndingWhenNoneOfItsThreadsGoesOnAndNotAllAreThroughWithIt() throws IOException {
    thread(7, "Z", EXITING);
    thread(8, "D", EXITING);
    assertThat(host().isEnding(7)).isTrue();
    thread(9, "S", RUNNING);
    assertThat(host().isEnding(7)).as("a thread goes on").isFalse();
    Files.delete(proc.resolve("7/task/9/stat"));
    assertThat(host().isEnding(7)).as("that thread has ended meanwhile").isTrue();
    thread(8, "Z", EXITING);
    assertThat(host().isEnding(7)).as("all is freed, and still NVML shows something").isFalse();
    assertThat(host().isEnding(8)).as("there is no such process").isFalse();
    assertThat(new HostProcesses(Path.of("/proc")).isEnding(ProcessHandle.current().pid())).isFalse();
  }

  @Test
  void theSharesOfAContainerAreThoseWhoseRegionsAreMountedFromTheNodesFilesystem() throws IOException {
    file(
        "mountinfo",
        """
            36 35 0:25 /partita/shares/0b5e-1/gpu-0-shared/usage /run/partita/shares/gpu-0-shared/usage rw,relatime - tmpfs tmpfs rw
            37 35 0:25 /shares/0b5e-2/c0ffee/usage /elsewhere rw - tmpfs tmpfs rw
            38 35 0:99 /shares/forged/c0ffee/usage /run/partita/shares/c0ffee/usage rw - tmpfs own rw
            39 35 0:25 /partita/shares/../x/usage /run rw - tmpfs tmpfs rw
            40 35 0:25 / /shares/0b5e-3/k/usage rw - tmpfs tmpfs rw
            """);
    assertThat(host().mounted(7, folder(null)))
        .as("where the folder's own path is not known")
        .containsExactlyInAnyOrder(new ShareRef("0b5e-1", "gpu-0-shared"), new ShareRef("0b5e-2", "c0ffee"));
    assertThat(host().mounted(7, folder("/partita"))).containsExactly(new ShareRef("0b5e-1", "gpu-0-shared"));
    assertThat(host().mounted(7, folder(""))).containsExactly(new ShareRef("0b5e-2", "c0ffee"));
    assertThat(host().mounted(8, folder(null))).isEmpty();
  }

  @Test
  void aFileOfTheSameFilesystemFromAnotherFolderIsNoRegion() throws IOException {
    file(
        "mountinfo",
        """
            36 35 0:25 /containers/c1/secrets/partita/shares/0b5e-2/k/usage /tmp/x rw - tmpfs tmpfs rw
            37 35 0:25 /partita/shares/0b5e-1/k/usage/shares/0b5e-3/k/usage /tmp/y rw - tmpfs tmpfs rw
            38 35 0:25 /partita/shares/0b5e-4/k/usage//deleted /tmp/z rw - tmpfs tmpfs rw
            39 35 0:25 /partita/shares/0b5e-1/k/usage /run/partita/shares/k/usage rw - tmpfs tmpfs rw
            """);
    assertThat(host().mounted(7, folder("/partita"))).containsExactly(new ShareRef("0b5e-1", "k"));
  }

  @Test
  void aFolderWithASpaceInItsNameIsFound() throws IOException {
    file("mountinfo", "36 35 0:25 /a\\040b\\134c/shares/0b5e-1/k/usage /run rw - tmpfs tmpfs rw\n");
    assertThat(host().mounted(7, folder("/a b\\c"))).containsExactly(new ShareRef("0b5e-1", "k"));
    assertThat(host().mounted(7, folder("/a\\040b\\134c"))).isEmpty();
  }

  @Test
  void aProcessWithMountsWithoutEndIsNotReadToItsEnd() throws IOException {
    String own = "41 35 0:99 / /" + "x".repeat(1000) + " rw - tmpfs own rw\n";
    file(
        "mountinfo",
        "36 35 0:25 /shares/0b5e-1/k/usage /run rw - tmpfs tmpfs rw\n" + own.repeat(2000)
            + "37 35 0:25 /shares/0b5e-2/k/usage /run rw - tmpfs tmpfs rw\n");
    assertThat(host().mounted(7, folder(""))).containsExactly(new ShareRef("0b5e-1", "k"));
  }

  @Test
  void aCgroupWhoseNameIsNoTextDoesNotHideThePod() throws IOException {
    Path cgroup = Files.createDirectories(proc.resolve("7")).resolve("cgroup");
    Files.write(cgroup, "0::/kubepods/besteffort/pod0b5e1a2b-0000-4000-8000-0123456789ab/0c1d/\u00ff\u00fe\n"
        .getBytes(StandardCharsets.ISO_8859_1));
    assertThat(host().pod(7)).contains("0b5e1a2b-0000-4000-8000-0123456789ab");
  }

  @ParameterizedTest
  @CsvSource({
    "'0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b5e1a2b_0000_4000_8000_0123456789ab.slice/cri-containerd-1.scope'",
    "'0::/../../kubepods-pod0b5e1a2b_0000_4000_8000_0123456789ab.slice/cri-containerd-1.scope'",
    "'4:memory:/kubepods/besteffort/pod0b5e1a2b-0000-4000-8000-0123456789ab/0c1d'",
  })
  void thePodIsKnownByItsCgroup(String line) throws IOException {
    file("cgroup", "9:name=systemd:/\n" + line + "\n");
    assertThat(host().pod(7)).contains("0b5e1a2b-0000-4000-8000-0123456789ab");
  }

  @ParameterizedTest
  @CsvSource({
    "'0::/kubepods.slice/kubepods-pod0b5e1a2b_0000_4000_8000_0123456789ab.slice/cri-containerd-%s.scope'",
    "'0::/kubepods.slice/kubepods-pod0b5e1a2b_0000_4000_8000_0123456789ab.slice/crio-%s.scope/made/inside'",
    "'4:memory:/kubepods/besteffort/pod0b5e1a2b-0000-4000-8000-0123456789ab/%s'",
    "'4:memory:/kubepods/besteffort/pod0b5e1a2b-0000-4000-8000-0123456789ab/%s/%2$s'",
  })
  void theContainerIsKnownByItsCgroupAndNotByOneWithin(String line) throws IOException {
    String id = "0c1d".repeat(16);
    file("cgroup", "9:name=systemd:/\n" + line.formatted(id, "f".repeat(64)) + "\n");
    assertThat(host().place(7)).contains(new HostProcesses.Place("0b5e1a2b-0000-4000-8000-0123456789ab", id));
  }

  @Test
  void aProcessOfTheHostHasNoPod() throws IOException {
    file("cgroup", "0::/system.slice/podman-0b5e1a2b.service\n");
    assertThat(host().pod(7)).isEmpty();
    assertThat(host().pod(8)).isEmpty();
  }

  private static RegionsFolder folder(@Nullable String path) {
    return new RegionsFolder(25, Optional.ofNullable(path));
  }

  private HostProcesses host() {
    return new HostProcesses(proc);
  }

  private void thread(int id, String state, long flags) throws IOException {
    Path folder = Files.createDirectories(proc.resolve("7/task/" + id));
    Files.writeString(folder.resolve("stat"), id + " (a) b) " + state + " 1 2 3 4 5 " + flags + " 8 9 10\n");
  }

  private void file(String name, String content) throws IOException {
    Files.writeString(Files.createDirectories(proc.resolve("7")).resolve(name), content);
  }
}
