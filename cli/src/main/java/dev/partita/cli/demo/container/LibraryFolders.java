package dev.partita.cli.demo.container;

import dev.partita.cdi.Mount;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Where a container's mounts put shared libraries. */
final class LibraryFolders {
  private LibraryFolders() {}

  /** The folders, in the container, of the libraries that programs look for by name, such as {@code libcuda.so.1}. */
  static List<String> of(ContainerSpec spec) {
    return spec.mounts().stream()
        .map(mount -> Path.of(mount.containerPath()))
        .filter(path -> Objects.toString(path.getFileName()).matches("lib.*\\.so\\.[0-9]+"))
        .flatMap(path -> Stream.ofNullable(path.getParent()))
        .filter(folder -> spec.mounts().stream().noneMatch(mount -> isInside(folder, mount)))
        .map(Path::toString)
        .distinct()
        .toList();
  }

  private static boolean isInside(Path folder, Mount mount) {
    return folder.startsWith(mount.containerPath());
  }
}
