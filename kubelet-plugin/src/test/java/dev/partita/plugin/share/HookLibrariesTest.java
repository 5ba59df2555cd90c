package dev.partita.plugin.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HookLibrariesTest {
  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private HookLibraries libraries;

  @BeforeEach
  void layOut() throws IOException {
    Path source = Files.createDirectory(root.resolve("source"));
    for (String name : List.of(HookLibraries.CUDA, HookLibraries.NVML, HookLibraries.HOOK)) {
      Files.writeString(source.resolve(name), name);
    }
    libraries = new HookLibraries(source, root.resolve("install"));
  }

  @Test
  void anInstallationThatFailsLeavesNothingHoweverOftenItIsTried() throws IOException {
    Path folder = Objects.requireNonNull(libraries.install().cuda().getParent());
    for (String name : List.of(HookLibraries.CUDA, HookLibraries.NVML, HookLibraries.HOOK)) {
      Files.delete(folder.resolve(name));
    }
    Files.delete(folder);
    Files.createFile(folder); // so that the folder cannot get its name
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(libraries::install).isInstanceOf(IOException.class);
    }
    assertThat(installed()).containsExactly(folder);
    Files.delete(folder);
    assertThat(libraries.install().hook()).isExecutable();
    assertThat(installed()).containsExactly(folder);
  }

  /** Claims of different cards are prepared at the same time, also the first ones of a node. */
  @Test
  void anyNumberInstallThemAtOnce() throws Exception {
    int threads = 8;
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int round = 0; round < 20; round++) {
        HookLibraries fresh = new HookLibraries(root.resolve("source"), root.resolve("install-" + round));
        CyclicBarrier start = new CyclicBarrier(threads);
        Callable<HookLibraries.Installed> install =
            () -> {
              start.await();
              return fresh.install();
            };
        Set<HookLibraries.Installed> installed = new HashSet<>();
        for (Future<HookLibraries.Installed> one : pool.invokeAll(Collections.nCopies(threads, install))) {
          installed.add(one.get());
        }
        assertThat(installed).singleElement().satisfies(all -> assertThat(all.hook()).isExecutable());
        fresh.close();
      }
    }
  }

  @Test
  void anInstalledFileThatIsNotAsItCameIsReplacedByAnotherAndTheOthersStay() throws IOException {
    HookLibraries.Installed installed = libraries.install();
    Object untouched = Files.getAttribute(installed.nvml(), "unix:ino");
    Files.delete(installed.cuda());
    Files.writeString(installed.cuda(), "x".repeat(HookLibraries.CUDA.length()));
    Object changed = Files.getAttribute(installed.cuda(), "unix:ino");
    Files.setPosixFilePermissions(installed.hook(), PosixFilePermissions.fromString("r--r--r--"));
    try (InputStream mapped = Files.newInputStream(installed.cuda())) {
      assertThat(libraries.install()).isEqualTo(installed);
      assertThat(mapped.readAllBytes()).as("a container keeps what it has").containsOnly('x');
      assertThat(Files.getAttribute(installed.cuda(), "unix:ino")).isNotEqualTo(changed);
    }
    assertThat(installed.cuda()).hasContent(HookLibraries.CUDA);
    assertThat(installed.hook()).isExecutable();
    assertThat(Files.getAttribute(installed.nvml(), "unix:ino")).isEqualTo(untouched);
  }

  @Test
  void aFileThatIsMissingOrALinkComesBack() throws IOException {
    HookLibraries.Installed installed = libraries.install();
    Files.delete(installed.cuda());
    Files.delete(installed.nvml());
    Files.createSymbolicLink(installed.nvml(), root.resolve("source").resolve(HookLibraries.NVML));
    libraries.install();
    assertThat(installed.cuda()).hasContent(HookLibraries.CUDA);
    assertThat(installed.nvml()).isRegularFile().hasContent(HookLibraries.NVML);
    assertThat(Files.isSymbolicLink(installed.nvml())).isFalse();
  }

  private List<Path> installed() throws IOException {
    try (Stream<Path> files = Files.list(root.resolve("install/lib"))) {
      return files.toList();
    }
  }
}
