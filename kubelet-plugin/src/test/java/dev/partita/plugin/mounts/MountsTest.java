package dev.partita.plugin.mounts;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which mount a path lies on. */
class MountsTest {
  private static final String ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw";

  @Test
  void aPathLiesOnTheNearestMountAboveIt() {
    List<String> lines =
        List.of(mount(22, 27, "/proc"), ROOT, mount(40, 27, "/opt"), mount(41, 40, "/opt/partita/lib"),
            mount(42, 27, "/opt/part"), mount(43, 40, "/opt/other"));
    assertThat(point("/opt/partita", lines)).isEqualTo("/opt");
    assertThat(point("/opt/partita/lib/1", lines)).isEqualTo("/opt/partita/lib");
    assertThat(point("/usr", lines)).isEqualTo("/");
  }

  @Test
  void aMountThatIsHiddenByAnotherDoesNotCount() {
    assertThat(id("/opt/partita", List.of(ROOT, mount(40, 27, "/opt"), mount(41, 40, "/opt")))).isEqualTo(41);
    assertThat(id("/opt/partita", List.of(ROOT, mount(40, 27, "/opt/partita"), mount(41, 27, "/opt"))))
        .as("what is mounted on a folder that has been hidden since").isEqualTo(41);
    assertThat(id("/opt", List.of(ROOT, mount(41, 27, "/")))).as("another root over the first").isEqualTo(41);
  }

  @Test
  void onlyTheMountsOwnOptionsSayWhetherProgramsCanBeStarted() {
    assertThat(mounts("40 27 254:0 / /opt rw,nosuid,noexec shared:1 - ext4 /dev/a rw").isNoexec()).isTrue();
    assertThat(mounts("40 27 254:0 / /opt rw,relatime shared:1 - fuse.x a rw,noexec").isNoexec()).isFalse();
  }

  @Test
  void aPathIsReadAsItIsWritten() {
    assertThat(point("/opt/a b\\c/d", List.of(ROOT, mount(40, 27, "/opt/a\\040b\\134c")))).isEqualTo("/opt/a b\\c");
  }

  @Test
  void aFolderHasOnePathInItsFileSystemWhereverThatIsMounted() {
    String run = "40 27 0:25 / /run rw - tmpfs tmpfs rw";
    String ofContainer = "41 27 0:25 /partita /run/partita rw - tmpfs tmpfs rw";
    assertThat(within("/run/partita", ROOT, run)).isEqualTo("/partita");
    assertThat(within("/run/partita", ROOT, ofContainer)).isEqualTo("/partita");
    assertThat(within("/srv/x", ROOT, "41 27 0:25 /a\\040b /srv/x rw - tmpfs tmpfs rw")).isEqualTo("/a b");
    assertThat(within("/srv/x/y", ROOT, "41 27 0:25 /a /srv/x rw - tmpfs tmpfs rw")).isEqualTo("/a/y");
    assertThat(within("/run", ROOT, run)).isEmpty();
    assertThat(within("/run/pärtita", ROOT, "41 27 0:25 /p\u00c3\u00a4rtita /run/p\u00c3\u00a4rtita rw - tmpfs t rw"))
        .as("names are bytes").isEqualTo("/p\u00c3\u00a4rtita");
  }

  @Test
  void whereAFolderLiesIsNotKnownWhereTheListDoesNotTell() {
    Path folder = Path.of("/run/partita");
    assertThat(mountsOf(ROOT).pathWithin(folder, 25)).as("a mount of another file system").isEmpty();
    assertThat(mountsOf().pathWithin(folder, 25)).isEmpty();
    assertThat(mountsOf(ROOT, "41 27 0:25 /partita//deleted /run/partita rw - tmpfs tmpfs rw").pathWithin(folder, 25))
        .isEmpty();
  }

  @Test
  void aDeviceIsThatOfItsFiles() throws Exception {
    Path proc = Path.of("/proc");
    long device = (Long) Files.getAttribute(proc, "unix:dev");
    assertThat(Mounts.read(Path.of("/proc/self/mountinfo")).pathWithin(proc, device)).contains("");
    assertThat(Mounts.deviceOf("259:1048577")).isEqualTo(0x1_0001_0301L);
  }

  @Test
  void whatHasNotTheFormOfAMountCountsAsMissing() {
    assertThat(Mounts.parse(Stream.of("", "x", "1 2 3 4", "a b 0:1 / / rw - t s o", "1 2 0:1 / relative rw - t s o"))
        .all()).isEmpty();
    assertThat(Mounts.parse(Stream.of()).at(Path.of("/opt"))).isEmpty();
    assertThat(id("/opt/partita", List.of(ROOT, mount(40, 27, "/opt"), mount(40, 40, "/opt"), mount(27, 40, "/opt"))))
        .as("mounts in a ring").isIn(27, 40);
  }

  @Test
  void theMountsOfThisProcessHaveARoot() throws Exception {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/mountinfo"))) {
      assertThat(Mounts.parse(lines).at(Path.of("/proc"))).map(mount -> mount.point().toString()).contains("/proc");
    }
  }

  private static Mounts.Mount mounts(String line) {
    return Mounts.parse(Stream.of(ROOT, line)).at(Path.of("/opt/partita")).orElseThrow();
  }

  /** Of a file system 0:25. */
  private static String within(String folder, String... lines) {
    return mountsOf(lines).pathWithin(Path.of(folder), 25).orElseThrow();
  }

  private static Mounts mountsOf(String... lines) {
    return Mounts.parse(Stream.of(lines));
  }

  private static String point(String path, List<String> lines) {
    return Mounts.parse(lines.stream()).at(Path.of(path)).orElseThrow().point().toString();
  }

  private static int id(String path, List<String> lines) {
    return Mounts.parse(lines.stream()).at(Path.of(path)).orElseThrow().id();
  }

  private static String mount(int id, int parent, String point) {
    return id + " " + parent + " 0:1 / " + point + " rw - tmpfs none rw";
  }
}
