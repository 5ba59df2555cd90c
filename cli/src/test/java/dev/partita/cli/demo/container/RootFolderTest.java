package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RootFolderTest {
  Path temp = Path.of("");

  @BeforeEach
  void makeFolder() throws IOException {
    temp = Files.createTempDirectory("partita-container-");
    makeHost();
  }

  @AfterEach
  void removeFolder() throws IOException {
    FolderTree.remove(temp);
  }

  private Path host = Path.of("");

  private void makeHost() throws IOException {
    host = temp.resolve("host");
    for (String folder : new String[]{"usr/lib/x86_64-linux-gnu", "etc", "dev", "run", "proc", "tmp/secret", "var"}) {
      Files.createDirectories(host.resolve(folder));
    }
    Files.createFile(host.resolve("usr/lib/x86_64-linux-gnu/libc.so.6"));
    Files.createSymbolicLink(host.resolve("lib"), Path.of("usr/lib"));
    Files.createSymbolicLink(host.resolve("var/run"), Path.of("/run"));
    Files.createFile(host.resolve("dev/null"));
    Files.createFile(host.resolve("dev/nvidia7"));
  }

  private RootFolder root() throws IOException {
    return new RootFolder(temp.resolve("root"), host);
  }

  private Path in(String path) {
    return temp.resolve("root" + path);
  }

  @Test
  void everythingOfTheHostIsALinkToIt() throws IOException {
    root();

    assertThat(in("/usr")).isSymbolicLink();
    assertThat(Files.readSymbolicLink(in("/usr"))).isEqualTo(Path.of("/.host/usr"));
    assertThat(Files.readSymbolicLink(in("/lib"))).isEqualTo(Path.of("usr/lib"));
  }

  @Test
  void processesAndTemporaryFilesAreTheContainersOwn() throws IOException {
    root();

    assertThat(in("/proc")).isEmptyDirectory();
    assertThat(in("/tmp")).isEmptyDirectory();
  }

  @Test
  void ofTheHostsDevicesOnlyWhatEveryContainerHasIsThere() throws IOException {
    root();

    assertThat(in("/dev/null")).isSymbolicLink();
    assertThat(Files.exists(in("/dev/nvidia7"), LinkOption.NOFOLLOW_LINKS)).isFalse();
  }

  @Test
  void aFileCanBeMountedWhereTheHostHasNone() throws IOException {
    Path point = root().mountPoint("/usr/lib/x86_64-linux-gnu/libcuda.so.1", false);

    assertThat(point).isEqualTo(Path.of("/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
    assertThat(in(point.toString())).isRegularFile();
    assertThat(Files.readSymbolicLink(in("/usr/lib/x86_64-linux-gnu/libc.so.6")))
        .isEqualTo(Path.of("/.host/usr/lib/x86_64-linux-gnu/libc.so.6"));
    assertThat(host.resolve("usr/lib/x86_64-linux-gnu/libcuda.so.1")).doesNotExist();
  }

  @Test
  void aFolderCanBeMountedBelowFoldersThatTheHostHasNot() throws IOException {
    root().mountPoint("/etc/partita/shares/one", true);

    assertThat(in("/etc/partita/shares/one")).isDirectory();
    assertThat(host.resolve("etc/partita")).doesNotExist();
  }

  @Test
  void whatTheHostHasThereIsMountedOver() throws IOException {
    root().mountPoint("/usr/lib/x86_64-linux-gnu/libc.so.6", false);

    assertThat(in("/usr/lib/x86_64-linux-gnu/libc.so.6")).isRegularFile();
    assertThat(Files.isSymbolicLink(in("/usr/lib/x86_64-linux-gnu/libc.so.6"))).isFalse();
  }

  @Test
  void linksOfTheHostOnTheWayAreFollowedInsideTheContainer() throws IOException {
    RootFolder root = root();

    assertThat(root.mountPoint("/lib/x86_64-linux-gnu/libcuda.so.1", false))
        .isEqualTo(Path.of("/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
    assertThat(root.mountPoint("/var/run/thing", true)).isEqualTo(Path.of("/run/thing"));
  }

  @Test
  void theFoldersOfTheLinkerAreTheContainersOwn() throws IOException {
    Files.createDirectories(host.resolve("usr/lib64"));

    root().openLibraryFolders();

    assertThat(Files.isDirectory(in("/usr/lib/x86_64-linux-gnu"), LinkOption.NOFOLLOW_LINKS)).isTrue();
    assertThat(in("/usr/lib/x86_64-linux-gnu/libc.so.6")).isSymbolicLink();
    assertThat(Files.readSymbolicLink(in("/lib"))).isEqualTo(Path.of("usr/lib"));
    assertThat(in("/usr/lib64")).isSymbolicLink();
  }

  @Test
  void manyMountPointsCanBeInOneFolder() throws IOException {
    RootFolder root = root();
    root.mountPoint("/usr/lib/x86_64-linux-gnu/libcuda.so.1", false);
    root.mountPoint("/usr/lib/x86_64-linux-gnu/partita/libcuda-real.so.1", false);

    assertThat(in("/usr/lib/x86_64-linux-gnu/libcuda.so.1")).isRegularFile();
    assertThat(in("/usr/lib/x86_64-linux-gnu/partita/libcuda-real.so.1")).isRegularFile();
  }
}
