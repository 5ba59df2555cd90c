package dev.partita.plugin.share;

import dev.partita.cdi.DurableFile;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Installs the shadow libraries and the CDI hook where containers mount them and container runtimes start the hook: in
 * a folder that is named after their content. Such a folder never changes afterwards, since running containers have its
 * files mapped.
 */
public final class HookLibraries implements AutoCloseable {
  public static final String CUDA = "libcuda-shadow.so";
  public static final String NVML = "libnvidia-ml-shadow.so";
  public static final String HOOK = "partita-cdi-hook";

  private static final Logger LOG = LoggerFactory.getLogger(HookLibraries.class);
  private static final List<String> NAMES = List.of(CUDA, NVML, HOOK);
  private static final Set<PosixFilePermission> EXECUTABLE = PosixFilePermissions.fromString("r-xr-xr-x");
  private static final int DIGEST_CHARACTERS = 16;
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{" + DIGEST_CHARACTERS + "}");
  private static final String UNFINISHED = ".unfinished-";

  private final Path source;
  private final Path installRoot;
  private final Map<Path, UntrustedFile> held = new ConcurrentHashMap<>();
  private volatile Checked checked = new Checked("", Map.of());

  /**
   * @param source folder that they come with the plugin in
   * @param installRoot where they are installed, below {@code lib/<digest>}
   */
  public HookLibraries(Path source, Path installRoot) {
    this.source = source;
    this.installRoot = installRoot;
  }

  /**
   * What was compared and found right.
   *
   * @param digest of what comes with the plugin
   * @param files the kernel's marks of those and of the installed files at that time
   */
  private record Checked(String digest, Map<Path, FileMark> files) {}

  /** Where they are installed. */
  public record Installed(Path cuda, Path nvml, Path hook) {}

  /** The file that is not in the folder that they come in, if one is missing. */
  public Optional<Path> missing() {
    return NAMES.stream().map(source::resolve).filter(file -> !Files.isRegularFile(file)).findFirst();
  }

  /**
   * Installs them if they are not there yet, and mends what is not as it was installed: a disk, or somebody, may have
   * changed it, and every container would run it. Files whose marks are the same as when they were compared last are
   * not compared again. What this has written is durable when it returns. It may be called any number of times at once.
   */
  public Installed install() throws IOException {
    Checked last = checked;
    if (!last.digest().isEmpty() && marks(last.digest()).equals(Optional.of(last.files()))) {
      return installed(last.digest());
    }
    Map<String, byte[]> content = content();
    String digest = digest(content);
    install(content, digest);
    NAMES.forEach(name -> hold(libraries().resolve(digest).resolve(name), false));
    Optional<Map<Path, FileMark>> marks = marks(digest);
    if (marks.isPresent() && hasOnlySettled(marks.get()) && isAsInstalled(libraries().resolve(digest), content)) {
      checked = new Checked(digest, marks.get());
    }
    return installed(digest);
  }

  private Installed installed(String digest) {
    Path folder = libraries().resolve(digest);
    return new Installed(folder.resolve(CUDA), folder.resolve(NVML), folder.resolve(HOOK));
  }

  private static boolean hasOnlySettled(Map<Path, FileMark> marks) {
    return marks.values().stream().allMatch(FileMark::isSettled);
  }

  /** The marks of the files that come with the plugin and of the installed ones; empty if one is not there. */
  private Optional<Map<Path, FileMark>> marks(String digest) throws IOException {
    Map<Path, FileMark> marks = new HashMap<>();
    for (Path folder : List.of(source, libraries().resolve(digest))) {
      for (String name : NAMES) {
        Optional<FileMark> mark = FileMark.of(folder.resolve(name));
        if (mark.isEmpty()) {
          return Optional.empty();
        }
        marks.put(folder.resolve(name), mark.get());
      }
    }
    return Optional.of(marks);
  }

  private void install(Map<String, byte[]> content, String digest) throws IOException {
    Path libraries = libraries();
    Path folder = libraries.resolve(digest);
    if (Files.isDirectory(folder)) {
      mend(folder, content);
    } else {
      Files.createDirectories(libraries);
      Path unfinished = libraries.resolve(UNFINISHED + UUID.randomUUID());
      Files.createDirectory(unfinished);
      try {
        for (Map.Entry<String, byte[]> file : content.entrySet()) {
          DurableFile.write(unfinished.resolve(file.getKey()), file.getValue(), EXECUTABLE);
        }
        Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
      } catch (FileSystemException e) {
        // rename(2) says ENOTEMPTY, for which an atomic move has no exception of its own
        if (!Files.isDirectory(folder)) {
          throw e;
        }
        LOG.debug("another one was faster", e);
      } finally {
        removeFolder(unfinished); // on a full disk each try would leave some more
      }
      DurableFile.syncFolder(libraries);
    }
  }

  /** The name of the folder that {@link #install} installs them in. */
  public String current() throws IOException {
    return digest(content());
  }

  /** The names of all folders that there are, also those of other versions. */
  public Set<String> installed() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path folder : folders()) {
      String name = String.valueOf(folder.getFileName());
      if (DIGEST.matcher(name).matches() && Files.isDirectory(folder)) {
        names.add(name);
      }
    }
    return names;
  }

  /**
   * Removes a folder, which then is there as a whole or not at all. Containers that have its files mapped keep them.
   */
  public void remove(String name) throws IOException {
    if (!DIGEST.matcher(name).matches()) {
      throw new IllegalArgumentException("not the name of a folder of libraries: \"" + name + "\"");
    }
    Path going = libraries().resolve(UNFINISHED + UUID.randomUUID());
    Files.move(libraries().resolve(name), going, StandardCopyOption.ATOMIC_MOVE);
    letGo(libraries().resolve(name));
    removeFolder(going);
    DurableFile.syncFolder(libraries());
  }

  /** Removes what an installation that was killed has left. */
  public void removeLeftovers() throws IOException {
    for (Path folder : folders()) {
      if (String.valueOf(folder.getFileName()).startsWith(UNFINISHED)) {
        removeFolder(folder);
      } else {
        DurableFile.removeLeftovers(folder, "");
      }
    }
  }

  /**
   * Puts right files that have changed. Each gets a new file in its place, so that containers that have the first one
   * mapped keep it.
   */
  private void mend(Path folder, Map<String, byte[]> content) throws IOException {
    for (Map.Entry<String, byte[]> file : content.entrySet()) {
      Path installed = folder.resolve(file.getKey());
      if (!isAsInstalled(installed, file.getValue())) {
        LOG.warn("{} has changed since it was installed; writing it anew", installed);
        DurableFile.write(installed, file.getValue(), EXECUTABLE);
      }
    }
  }

  private static boolean isAsInstalled(Path folder, Map<String, byte[]> content) throws IOException {
    for (Map.Entry<String, byte[]> file : content.entrySet()) {
      if (!isAsInstalled(folder.resolve(file.getKey()), file.getValue())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a file is as it was installed. One that a process holds a lease on is not: another file takes its place.
   */
  private static boolean isAsInstalled(Path file, byte[] content) throws IOException {
    if (!(UntrustedFile.openToRead(file) instanceof UntrustedFile.Opening.Opened opened)) {
      return false;
    }
    try {
      return opened.file().size() == content.length
          && Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS).equals(EXECUTABLE)
          && Arrays.equals(opened.file().read(0, content.length), content);
    } finally {
      opened.file().release();
    }
  }

  /**
   * Keeps all that is installed open, of whatever version: containers that were prepared by an earlier plugin have that
   * one's libraries.
   *
   * @param waits whether to wait until a lease that a process holds is broken: for as long as {@code
   *        fs.lease-break-time} says, with each file
   */
  public void holdInstalled(boolean waits) throws IOException {
    for (String version : installed()) {
      try (Stream<Path> files = Files.list(libraries().resolve(version))) {
        files.filter(file -> !held.containsKey(file)).forEach(file -> hold(file, waits));
      } catch (NoSuchFileException e) {
        LOG.debug("another plugin has removed it meanwhile", e);
      }
    }
  }

  /**
   * Keeps an installed file open. It is the same file in all containers of the node, and a container's root could hold
   * a lease on it. Then every program in another container that loads it would wait for 45 s. The kernel gives no such
   * lease on a file that somebody else has open.
   */
  private void hold(Path file, boolean waits) {
    UntrustedFile.Opening opening = UntrustedFile.openToRead(file);
    if (waits && opening instanceof UntrustedFile.Opening.Leased
        && UntrustedFile.openWaiting(file) instanceof UntrustedFile.Opening.Opened writable) {
      opening = UntrustedFile.openToRead(file); // nobody gets a lease in between
      writable.file().release();
    }
    if (opening instanceof UntrustedFile.Opening.Opened opened) {
      UntrustedFile earlier = held.put(file, opened.file());
      if (earlier != null) {
        earlier.release();
      }
    }
  }

  private void letGo(Path folder) {
    for (Path file : List.copyOf(held.keySet())) {
      UntrustedFile its = file.startsWith(folder) ? held.remove(file) : null;
      if (its != null) {
        its.release();
      }
    }
  }

  private Path libraries() {
    return installRoot.resolve("lib");
  }

  private List<Path> folders() throws IOException {
    if (!Files.isDirectory(libraries())) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(libraries())) {
      return folders.toList();
    }
  }

  private Map<String, byte[]> content() throws IOException {
    Map<String, byte[]> content = new LinkedHashMap<>();
    for (String name : NAMES) {
      content.put(name, Files.readAllBytes(source.resolve(name)));
    }
    return content;
  }

  private static String digest(Map<String, byte[]> content) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      content.forEach(
          (name, bytes) -> {
            digest.update((name + "\0").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            digest.update(bytes);
          });
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

  /** Lets go of what is installed, which stays there. */
  @Override
  public void close() {
    held.values().forEach(UntrustedFile::release);
    held.clear();
  }
}
