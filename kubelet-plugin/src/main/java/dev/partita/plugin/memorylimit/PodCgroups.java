package dev.partita.plugin.memorylimit;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * Finds the cgroup that kubelet has made for a pod, before it has the pod's claims prepared. Its folder is called
 * {@code pod<uid>} (cgroupfs) or {@code kubepods-besteffort-pod<uid>.slice} with underscores (systemd), and lies in
 * that of the pod's quality of service, wherever kubelet's --cgroup-root is.
 */
public final class PodCgroups {
  private static final Pattern POD_UID = Pattern.compile("[0-9a-f-]{1,64}");
  private static final Pattern SERVICE = Pattern.compile("(.*-)?(kubepods|burstable|besteffort)(\\.slice)?");

  /** No folder of a pod is looked into: what is in there, a container may have made. */
  private static final Pattern POD = Pattern.compile("(.*-)?pod[0-9a-f][0-9a-f_-]{7,63}(\\.slice)?");

  /** Of a root that is nested, as in a node that is a container. */
  private static final int DEEPEST = 8;
  private static final int MOST_FOLDERS = 5_000;
  private static final Duration BETWEEN_SEARCHES = Duration.ofSeconds(30);

  private final Path root;
  private final LongSupplier nanos;
  private List<Path> services = List.of();
  private long searched;

  /**
   * @param root where the cgroups are, /sys/fs/cgroup
   * @param nanos a clock that cannot be set
   */
  public PodCgroups(Path root, LongSupplier nanos) {
    this.root = root;
    this.nanos = nanos;
    this.searched = nanos.getAsLong() - BETWEEN_SEARCHES.toNanos();
  }

  /**
   * The folder of a pod's cgroup.
   *
   * @return empty if there is none, as of a pod that has ended, or with kubelet's cgroupsPerQOS false
   */
  public synchronized Optional<Path> of(String podUid) throws IOException {
    if (!POD_UID.matcher(podUid).matches()) {
      return Optional.empty();
    }
    Optional<Path> found = among(services, podUid);
    if (found.isEmpty() && nanos.getAsLong() - searched >= BETWEEN_SEARCHES.toNanos()) {
      services = search();
      searched = nanos.getAsLong();
      found = among(services, podUid);
    }
    return found;
  }

  private static Optional<Path> among(List<Path> services, String podUid) {
    return services.stream().map(service -> service.resolve(nameOf(podUid, service))).filter(PodCgroups::isFolder)
        .findFirst();
  }

  private static String nameOf(String podUid, Path service) {
    String name = String.valueOf(service.getFileName());
    return name.endsWith(".slice")
        ? name.substring(0, name.length() - ".slice".length()) + "-pod" + podUid.replace('-', '_') + ".slice"
        : "pod" + podUid;
  }

  /** The folders of all qualities of service, the nearest to the root first. */
  private List<Path> search() throws IOException {
    List<Path> found = new ArrayList<>();
    Queue<Path> next = new ArrayDeque<>(List.of(root));
    for (int looked = 0; !next.isEmpty() && looked < MOST_FOLDERS; looked++) {
      Path folder = next.remove();
      if (SERVICE.matcher(String.valueOf(folder.getFileName())).matches()) {
        found.add(folder);
      }
      if (folder.getNameCount() - root.getNameCount() < DEEPEST) {
        next.addAll(foldersIn(folder));
      }
    }
    return found;
  }

  private static List<Path> foldersIn(Path folder) throws IOException {
    List<Path> folders = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        if (isFolder(entry) && !POD.matcher(String.valueOf(entry.getFileName())).matches()) {
          folders.add(entry);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    } catch (NoSuchFileException e) {
      return List.of(); // it has gone meanwhile
    }
    folders.sort(null);
    return folders;
  }

  private static boolean isFolder(Path path) {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }
}
