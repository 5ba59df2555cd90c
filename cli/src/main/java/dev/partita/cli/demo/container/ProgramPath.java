package dev.partita.cli.demo.container;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where the system's programs are looked for, folder by folder: where {@code PATH} says, and in the folders for root's
 * programs, which the {@code PATH} of other users often lacks (Debian's does).
 */
record ProgramPath(List<Path> folders) {
  private static final List<String> OF_ROOT = List.of("/usr/sbin", "/sbin");

  ProgramPath {
    folders = List.copyOf(folders);
  }

  /** @param path as in the variable {@code PATH}; a folder that is not absolute is left out */
  static ProgramPath of(String path) {
    return new ProgramPath(
        Stream.concat(Stream.of(path.split(":")), OF_ROOT.stream()).filter(folder -> folder.startsWith("/"))
            .distinct().map(Path::of).toList());
  }

  /** As in the variable {@code PATH}. */
  String text() {
    return folders.stream().map(Path::toString).collect(Collectors.joining(":"));
  }

  /** Which of the programs are in none of the folders, in one line for people; empty if all are there. */
  Optional<String> missing(String... programs) {
    List<String> missing = new ArrayList<>();
    for (String program : programs) {
      if (folders.stream().noneMatch(folder -> Files.isExecutable(folder.resolve(program)))) {
        missing.add(program);
      }
    }
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(String.join(", ", missing) + (missing.size() == 1 ? " is" : " are") + " missing in " + text());
  }
}
