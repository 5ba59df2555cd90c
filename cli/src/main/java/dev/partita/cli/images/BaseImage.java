package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.compress.archivers.tar.TarFile;

/** The image that an image lies on. */
sealed interface BaseImage {
  /** What it is called where an image's content is listed. */
  default String name() {
    return toString();
  }

  /** @throws CommandFailure if it cannot be for all of these */
  default void checkFor(List<Processor> processors) {
    if (processors.size() > 1 && (this instanceof InArchive || this instanceof InRootArchive)) {
      throw CommandFailure.usage("--base: %s is for one processor, and images for %s are asked for".formatted(this,
          processors.stream().map(Processor::toString).collect(Collectors.joining(", "))));
    }
  }

  /** An image in a registry, which may have it for several processors. */
  record InRegistry(ImageReference reference) implements BaseImage {
    @Override
    public String toString() {
      return reference.toString();
    }
  }

  /** An archive as {@code docker save} and {@code podman save} write it: for one processor. */
  record InArchive(Path file) implements BaseImage {
    @Override
    public String toString() {
      return file.toString();
    }

    @Override
    public String name() {
      return String.valueOf(file.getFileName());
    }
  }

  /** A root folder's tar file, as {@code mmdebstrap} writes it: for one processor, which nothing in it tells. */
  record InRootArchive(Path file) implements BaseImage {
    @Override
    public String toString() {
      return file.toString();
    }

    @Override
    public String name() {
      return String.valueOf(file.getFileName());
    }
  }

  /** None: the image holds its own files alone. */
  record Scratch() implements BaseImage {
    @Override
    public String toString() {
      return "nothing";
    }
  }

  /** Reads what a person wrote: {@code scratch}, the path of a file that is there, or else an image's name. */
  static BaseImage of(String text) {
    if (text.equals("scratch")) {
      return new Scratch();
    }
    if (Files.isRegularFile(Path.of(text))) {
      return archive(Path.of(text));
    }
    if (text.startsWith("/") || text.startsWith("./") || text.endsWith(".tar")) {
      throw CommandFailure.usage("--base: there is no file %s".formatted(text));
    }
    try {
      return new InRegistry(ImageReference.parse(text));
    } catch (InvalidImageReferenceException wrong) {
      throw CommandFailure
          .usage("--base: '%s' is neither a file nor an image's name such as debian:13-slim".formatted(text));
    }
  }

  private static BaseImage archive(Path file) {
    try (TarFile tar = new TarFile(file.toFile())) {
      Set<String> names =
          tar.getEntries().stream().map(entry -> entry.getName().replaceFirst("^\\./", "").replaceFirst("/$", ""))
              .collect(Collectors.toSet());
      if (names.contains("manifest.json")) {
        return new InArchive(file);
      }
      if (names.contains("usr")) {
        return new InRootArchive(file);
      }
      throw CommandFailure.usage(
          "--base: %s is neither an image of 'docker save' (podman save --format docker-archive) nor a root folder's tar file"
              .formatted(file));
    } catch (IOException unreadable) {
      throw CommandFailure.usage("--base: %s is no uncompressed tar file: %s".formatted(file, unreadable.getMessage()));
    }
  }
}
