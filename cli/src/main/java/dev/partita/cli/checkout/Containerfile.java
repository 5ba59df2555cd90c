package dev.partita.cli.checkout;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What an image's Containerfile says besides the files: it is the one place that does, whatever builds the image.
 *
 * @param base the image below, such as debian:13-slim
 * @param user numbers of user and group, such as 65532:65532
 * @param entrypoint the program and its arguments
 */
public record Containerfile(String base, String user, List<String> entrypoint) {
  public Containerfile {
    entrypoint = List.copyOf(entrypoint);
  }

  /** Reads the lines {@code ARG BASE=}, {@code USER} and {@code ENTRYPOINT [...]}, of which each must be there once. */
  static Containerfile read(Path file) {
    try {
      List<String> lines = Files.readAllLines(file);
      String entrypoint = only(file, lines, "ENTRYPOINT ").strip();
      if (!entrypoint.matches("\\[\\s*\"[^\"\\\\]+\"(\\s*,\\s*\"[^\"\\\\]+\")*\\s*]")) {
        throw CommandFailure.failed("%s: ENTRYPOINT is no list of strings: %s".formatted(file, entrypoint));
      }
      List<String> words =
          List.of(entrypoint.substring(entrypoint.indexOf('"') + 1, entrypoint.lastIndexOf('"'))
              .split("\"\\s*,\\s*\"", -1));
      return new Containerfile(only(file, lines, "ARG BASE="), only(file, lines, "USER "), words);
    } catch (IOException missing) {
      throw CommandFailure.failed("%s cannot be read: %s".formatted(file, FileProblem.why(missing)));
    }
  }

  private static String only(Path file, List<String> lines, String start) {
    List<String> found = lines.stream().filter(line -> line.startsWith(start)).toList();
    if (found.size() != 1) {
      throw CommandFailure.failed("%s has %d lines '%s…', not one".formatted(file, found.size(), start.strip()));
    }
    return found.getFirst().substring(start.length()).strip();
  }
}
