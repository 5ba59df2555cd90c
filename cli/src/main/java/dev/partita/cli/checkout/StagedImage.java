package dev.partita.cli.checkout;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * An image that the build laid out: a folder with {@code Containerfile}, {@code entrypoint} (JSON) and {@code root/}.
 *
 * @param name such as kubelet-plugin
 * @param folder where it is laid out
 */
public record StagedImage(String name, Path folder) {
  /** Registry and tag of images that never come from a registry: they are loaded onto the nodes. */
  public static final String REGISTRY = "localhost/partita";

  public static final String TAG = "dev";

  public String reference() {
    return REGISTRY + "/" + name + ":" + TAG;
  }

  public Path root() {
    return folder.resolve("root");
  }

  public String entrypoint() {
    try {
      return Files.readString(folder.resolve("entrypoint")).strip();
    } catch (IOException gone) {
      throw CommandFailure.failed("image %s is not laid out: %s".formatted(name, gone));
    }
  }

  /** What its Containerfile says. */
  public Containerfile containerfile() {
    return Containerfile.read(folder.resolve("Containerfile"));
  }

  /** The names of the images that a checkout's build lays out: each has a Containerfile there. */
  public static List<String> namesIn(Path checkout) {
    Path sources = checkout.resolve("deploy/image");
    try (Stream<Path> folders = Files.list(sources)) {
      return folders.filter(folder -> Files.exists(folder.resolve("Containerfile")))
          .map(folder -> folder.getFileName().toString()).sorted().toList();
    } catch (IOException missing) {
      throw CommandFailure.failed("%s has no images: %s".formatted(sources, missing));
    }
  }

  /** All images below a folder, by name. */
  public static List<StagedImage> below(Path images) {
    try (Stream<Path> folders = Files.list(images)) {
      List<StagedImage> found =
          folders
              .filter(folder -> Files.exists(folder.resolve("entrypoint")))
              .map(folder -> new StagedImage(folder.getFileName().toString(), folder))
              .sorted(java.util.Comparator.comparing(StagedImage::name))
              .toList();
      if (!found.isEmpty()) {
        return found;
      }
    } catch (IOException missing) {
      // said below
    }
    throw CommandFailure.failed("no images are laid out in %s: run 'mvn -pl deploy -am package'".formatted(images));
  }
}
