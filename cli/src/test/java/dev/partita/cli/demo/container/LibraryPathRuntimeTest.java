package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cdi.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class LibraryPathRuntimeTest extends ContainerRuntimeContract {
  @Override
  ContainerRuntime runtime() {
    return new LibraryPathRuntime(temp.resolve("containers"));
  }

  @Test
  void librariesAreFoundThroughTheLibraryPath() throws Exception {
    Path library = Files.createFile(temp.resolve("libcuda-shadow.so"));
    ContainerSpec spec =
        new ContainerSpec(ENV, List.of(),
            List.of(Mount.readOnly(library.toString(), "/usr/lib/x86_64-linux-gnu/libcuda.so.1")));

    Container container = runtime().create("c", spec);

    assertThat(container.spec().env()).containsEntry("LD_LIBRARY_PATH",
        temp.resolve("containers/c/usr/lib/x86_64-linux-gnu").toString());
  }

  @Test
  void aMountInsideAMountIsRefused() throws Exception {
    Path folder = Files.createDirectory(temp.resolve("folder"));
    ContainerSpec spec =
        new ContainerSpec(
            ENV, List.of(),
            List.of(Mount.readOnly(folder.toString(), "/etc/a"), Mount.readOnly(folder.toString(), "/etc/a/b")));
    ContainerRuntime runtime = runtime();

    assertThatThrownBy(() -> runtime.create("c", spec)).isInstanceOf(IOException.class)
        .hasMessageContaining("/etc/a/b");
    assertThat(folder).isEmptyDirectory();
  }
}
