package dev.partita.plugin.usage.measure;

import dev.partita.plugin.mounts.Mounts;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what /proc says of processes. It opens only files that everybody may read, so it needs no capability.
 *
 * @param proc the /proc of the pid namespace in which NVML gives pids
 */
public record HostProcesses(Path proc) {
  /** Those that this process sees. */
  public static final HostProcesses SEEN = new HostProcesses(Path.of("/proc"));

  private static final Logger LOG = LoggerFactory.getLogger(HostProcesses.class);
  private static final AtomicBoolean FORGED_TOLD = new AtomicBoolean();

  /** Fields 3, 9 and 22 of /proc/pid/stat, counted after the name in parentheses, which may hold anything. */
  private static final int STATE_FIELD = 1;

  private static final int FLAGS_FIELD = 7;
  private static final int START_FIELD = 20;

  private static final long PF_EXITING = 0x4; // linux/sched.h

  /** proc_pid_mountinfo(5): mount id, parent, major:minor, root within the filesystem, mount point. */
  private static final Pattern USAGE_MOUNT =
      Pattern.compile("^\\d+ \\d+ (\\d+:\\d+) ((?:/\\S*)?)/shares/([A-Za-z0-9-]{1,64})/([A-Za-z0-9-]{1,64})/"
          + ShareFolders.USAGE_NAME + " ");

  /**
   * The folder that kubelet gives a pod's cgroup, with the systemd driver (dashes become underscores) and without, and
   * below it the one that a runtime gives a container: its id, as in {@code cri-containerd-<id>.scope} or alone.
   */
  private static final Pattern POD =
      Pattern.compile("(?:/|-)pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\\.slice)?"
          + "(?:/(?:[a-z][a-z-]{0,31}-)?([0-9a-f]{64})(?:\\.scope)?)?(?:/|$)");

  /**
   * How much of a file is read that a process can make as long as it likes. A process that makes a mount namespace of
   * its own can have a hundred thousand mounts, with paths of 4 KiB. What a container runtime mounts comes long before.
   */
  private static final int MOST_BYTES = 1 << 18;

  private static final long INITIAL_PID_NAMESPACE = 4026531836L; // PROC_PID_INIT_INO, linux/proc_ns.h

  /** The process that has the pid now; empty if there is none. */
  public Optional<ProcessIdentity> identity(long pid) {
    try {
      return Optional
          .of(new ProcessIdentity(pid, Long.parseLong(stat(proc.resolve(pid + "/stat")).get(START_FIELD - 1))));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /**
   * Whether the process is ending and runs nothing any more. The kernel takes its locks away at once, while the driver
   * may need seconds to free what it had. A zombie is through with that: what NVML shows of it then, others hold.
   */
  public boolean isEnding(long pid) {
    boolean ending = false;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(proc.resolve(pid + "/task"))) {
      for (Path thread : threads) {
        Optional<List<String>> stat = statOfThread(thread);
        if (stat.isPresent() && (Long.parseLong(stat.get().get(FLAGS_FIELD - 1)) & PF_EXITING) == 0) {
          return false;
        }
        ending |= stat.isPresent() && !stat.get().get(STATE_FIELD - 1).equals("Z");
      }
    } catch (IOException | RuntimeException e) {
      return false;
    }
    return ending;
  }

  /** Empty if the thread has ended, which says nothing of the other threads. */
  private static Optional<List<String>> statOfThread(Path thread) {
    try {
      return Optional.of(stat(thread.resolve("stat")));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static List<String> stat(Path file) throws IOException {
    String stat = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    return List.of(stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1));
  }

  /**
   * The shares whose usage regions are mounted where the process runs: those of its container. Only mounts from the
   * node's own folder count, for a container may be able to mount a file of its own under any path.
   */
  Set<ShareRef> mounted(long pid, RegionsFolder regions) {
    Set<ShareRef> shares = new TreeSet<>();
    try {
      for (String line : lines(pid, "mountinfo")) {
        Matcher mount = USAGE_MOUNT.matcher(line);
        if (mount.find() && Mounts.deviceOf(mount.group(1)) == regions.device()) {
          ShareRef share = new ShareRef(mount.group(3), mount.group(4));
          if (regions.path().map(Mounts.unescape(mount.group(2))::equals).orElse(true)) {
            shares.add(share);
          } else {
            tellForged(pid, share);
          }
        }
      }
    } catch (IOException | NumberFormatException e) {
      shares.clear(); // it has ended
    }
    return shares;
  }

  private static void tellForged(long pid, ShareRef share) {
    if (!FORGED_TOLD.getAndSet(true)) {
      LOG.debug(
          "process {} has a file mounted that is named as a region of claim {} but lies in another folder than the regions: it does not count, and the process' pod tells whose it is",
          pid, share.uid());
    }
  }

  /**
   * Whether the process runs with the same mounts as this one. Then it is in no container, since the plugin is alone in
   * its own. A process whose mounts may not be looked at is somebody else's.
   */
  boolean isUncontained(long pid) {
    try {
      return Files.readSymbolicLink(proc.resolve(pid + "/ns/mnt"))
          .equals(Files.readSymbolicLink(proc.resolve("self/ns/mnt")));
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * The pod and the container in whose cgroup a process is.
   *
   * @param podUid the pod's UID
   * @param container the runtime's id of the container; empty where the cgroup does not tell
   */
  public record Place(String podUid, String container) {}

  /** UID of the pod in whose cgroup the process is; empty for one of the host's own. */
  public Optional<String> pod(long pid) {
    return place(pid).map(Place::podUid);
  }

  /** In whose cgroup the process is, which a container cannot leave; empty for one of the host's own. */
  public Optional<Place> place(long pid) {
    try {
      for (String line : lines(pid, "cgroup")) {
        Matcher pod = POD.matcher(line);
        if (pod.find()) {
          return Optional
              .of(new Place(pod.group(1).replace('_', '-'), Objects.requireNonNullElse(pod.group(2), "")));
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  /** Every process that is seen here. */
  List<Long> pids() throws IOException {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(proc, "[0-9]*")) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (name.length() <= 10 && name.chars().allMatch(c -> c >= '0' && c <= '9')) {
          pids.add(Long.parseLong(name));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return pids;
  }

  /** Whether every process of the machine can be seen from here. */
  public boolean seesAll() {
    try {
      return Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString()
          .equals("pid:[" + INITIAL_PID_NAMESPACE + "]");
    } catch (IOException e) {
      return false;
    }
  }

  /** Names of mounts and cgroups are bytes, which need not be text. */
  private List<String> lines(long pid, String name) throws IOException {
    try (InputStream file = Files.newInputStream(proc.resolve(pid + "/" + name))) {
      return List.of(new String(file.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1).split("\n", -1));
    }
  }
}
