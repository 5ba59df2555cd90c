package dev.partita.plugin.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HookLibrariesTest {
  @TempDir @SuppressWarnings("NullAway.Init")
  Path root;

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

  private List<Path> installed() throws IOException {
    try (Stream<Path> files = Files.list(root.resolve("install/lib"))) {
      return files.toList();
    }
  }
}
