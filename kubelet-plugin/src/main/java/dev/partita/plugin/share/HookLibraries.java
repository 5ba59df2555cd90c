package dev.partita.plugin.share;

import dev.partita.cdi.DurableFile;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shadow libraries and the CDI hook, put where containers mount them from and container runtimes start it: a folder named after their content, which is never changed
 * afterwards, since running containers have its files mapped.
 *
 * @param source folder that they come with the plugin in
 * @param installRoot where they are installed, below {@code lib/<digest>}
 */
public record HookLibraries(Path source, Path installRoot) {
  public static final String CUDA = "libcuda-shadow.so";
  public static final String NVML = "libnvidia-ml-shadow.so";
  public static final String HOOK = "partita-cdi-hook";

  private static final Logger LOG = LoggerFactory.getLogger(HookLibraries.class);
  private static final List<String> NAMES = List.of(CUDA, NVML, HOOK);
  private static final Set<PosixFilePermission> EXECUTABLE = PosixFilePermissions.fromString("r-xr-xr-x");
  private static final int DIGEST_CHARACTERS = 16;
  private static final String UNFINISHED = ".unfinished-";

  /** Where they are installed. */
  public record Installed(Path cuda, Path nvml, Path hook) {}

  /** The file that is not in {@link #source}, if one is missing. */
  public java.util.Optional<Path> missing() {
    return NAMES.stream().map(source::resolve).filter(file -> !Files.isRegularFile(file)).findFirst();
  }

  /** Installs them if they are not there yet. Durable when it returns; any number may do this at once. */
  public Installed install() throws IOException {
    Path libraries = installRoot.resolve("lib");
    Path folder = libraries.resolve(digest());
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(libraries);
      Path unfinished = libraries.resolve(UNFINISHED + UUID.randomUUID());
      Files.createDirectory(unfinished);
      try {
        for (String name : NAMES) {
          DurableFile.write(unfinished.resolve(name), Files.readAllBytes(source.resolve(name)), EXECUTABLE);
        }
        Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
      } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
        LOG.debug("another plugin was faster", e);
      } finally {
        removeFolder(unfinished); // on a full disk each try would leave some more
      }
      DurableFile.syncFolder(libraries);
    }
    return new Installed(folder.resolve(CUDA), folder.resolve(NVML), folder.resolve(HOOK));
  }

  /** Removes what an installation that was killed has left. */
  public void removeLeftovers() throws IOException {
    Path libraries = installRoot.resolve("lib");
    if (!Files.isDirectory(libraries)) {
      return;
    }
    try (Stream<Path> folders = Files.list(libraries)) {
      for (Path folder : folders.filter(f -> String.valueOf(f.getFileName()).startsWith(UNFINISHED)).toList()) {
        removeFolder(folder);
      }
    }
  }

  private String digest() throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (String name : NAMES) {
        digest.update((name + "\0").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        digest.update(Files.readAllBytes(source.resolve(name)));
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, DIGEST_CHARACTERS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static void removeFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(folder);
  }
}
