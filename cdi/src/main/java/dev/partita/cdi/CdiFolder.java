package dev.partita.cdi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One writer's specs in a folder that container runtimes watch, such as {@code /var/run/cdi}: the files {@code
 * <prefix>_<id>.json}. Files of others are never touched.
 */
public final class CdiFolder {
  private static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rw-r--r--");
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
  private static final String SUFFIX = ".json";

  private final Path folder;
  private final String prefix;

  /**
   * @param folder made on the first write if it is not there
   * @param prefix begins every file's name; by convention vendor and class joined by a dash
   */
  public CdiFolder(Path folder, String prefix) {
    this.folder = folder;
    this.prefix = prefix + "_";
  }

  /** The file of a spec, whether it is there or not. */
  public Path fileOf(String id) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException("the id of a CDI spec is letters, digits and _-. inside: \"" + id + "\"");
    }
    return folder.resolve(prefix + id + SUFFIX);
  }

  /**
   * Writes or replaces a spec; whoever reads at any moment finds the old or the new one. It is not forced to the disk:
   * the folder is a tmpfs on most nodes, and specs are written anew after a start of the machine in any case.
   */
  public void write(String id, CdiSpec spec) throws IOException {
    Files.createDirectories(folder);
    DurableFile.replace(fileOf(id), CdiJson.write(spec), READABLE);
  }

  /** Reads a spec; empty if there is none. */
  public Optional<CdiSpec> read(String id) throws IOException {
    Path file = fileOf(id);
    try {
      return Optional.of(CdiJson.read(Files.readAllBytes(file), file.toString()));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** The same; empty, too, where there is something that is no CDI spec. */
  public Optional<CdiSpec> readIfValid(String id) throws IOException {
    try {
      return read(id);
    } catch (CdiFormatException e) {
      return Optional.empty();
    }
  }

  /** Removes a spec; whether it was there. */
  public boolean remove(String id) throws IOException {
    return Files.deleteIfExists(fileOf(id));
  }

  /** The ids of all specs, sorted. */
  public List<String> ids() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> String.valueOf(file.getFileName()))
          .filter(name -> name.startsWith(prefix) && name.endsWith(SUFFIX))
          .map(name -> name.substring(prefix.length(), name.length() - SUFFIX.length()))
          .filter(id -> ID.matcher(id).matches())
          .sorted()
          .toList();
    }
  }

  /** Removes what a writer that was killed has left. */
  public void removeLeftovers() throws IOException {
    DurableFile.removeLeftovers(folder, prefix);
  }
}
