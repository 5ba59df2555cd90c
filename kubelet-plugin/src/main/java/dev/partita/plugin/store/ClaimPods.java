package dev.partita.plugin.store;

import dev.partita.plugin.grant.ClaimRef;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Remembers which pods a claim was reserved for, in one small file for each claim. So when the claim is gone it is
 * known whose containers may still run. The files lie beside the usage regions. A reboot removes both as it ends the
 * containers, so nothing has to reach a disk.
 */
public final class ClaimPods {
  /** The API lets a claim be reserved for 256. */
  private static final int MOST_PODS = 256;

  private static final Pattern UID = Pattern.compile("[0-9a-f-]{1,64}");

  private final Path folder;
  private Set<String> unclaimedBefore = Set.of(); // claims of nobody, the last time that was looked

  /** @param runRoot holds {@code pods/<claim UID>} */
  public ClaimPods(Path runRoot) {
    this.folder = runRoot.resolve("pods");
  }

  /** Takes note of whom the claim is reserved for now, besides those that it was reserved for before. */
  public void see(ResourceClaim claim) throws IOException {
    see(claim, Set.of());
  }

  /** @param unnamed UIDs of pods that have its devices though it is not reserved for them by name */
  public synchronized void see(ResourceClaim claim, Set<String> unnamed) throws IOException {
    String uid = claim.getMetadata().getUid();
    if (!ClaimRef.isUid(uid) || claim.getStatus() == null || claim.getStatus().getReservedFor() == null) {
      return;
    }
    Set<String> now =
        Stream.concat(
            claim.getStatus().getReservedFor().stream()
                .filter(consumer -> "pods".equals(consumer.getResource()) && consumer.getUid() != null)
                .map(consumer -> consumer.getUid()),
            unnamed.stream())
            .filter(pod -> UID.matcher(pod).matches())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> known = of(uid);
    if (known.containsAll(now)) {
      return;
    }
    Set<String> all = new TreeSet<>(now);
    known.stream().limit(MOST_PODS).forEach(all::add);
    Files.createDirectories(folder);
    Path fresh = folder.resolve(uid + ".new");
    Files.write(fresh, all);
    try {
      Files.move(fresh, folder.resolve(uid), StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IllegalStateException("a folder of one filesystem: " + folder, e);
    }
  }

  /** UIDs of the pods that the claim was reserved for. */
  public Set<String> of(String claimUid) throws IOException {
    try {
      return new TreeSet<>(Files.readAllLines(folder.resolve(claimUid)));
    } catch (NoSuchFileException e) {
      return Set.of();
    }
  }

  /** Forgets a claim that is released. */
  public synchronized void forget(String claimUid) throws IOException {
    Files.deleteIfExists(folder.resolve(claimUid));
  }

  /**
   * Forgets all claims but these, if they were not among these the last time either: a claim that is being prepared has
   * no record yet.
   */
  public synchronized void retain(Collection<String> claimUids) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    Set<String> now = new HashSet<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String uid = String.valueOf(file.getFileName());
        if (!claimUids.contains(uid) && !unclaimedBefore.contains(uid)) {
          now.add(uid);
        } else if (!claimUids.contains(uid)) {
          Files.deleteIfExists(file);
        }
      }
    }
    unclaimedBefore = now;
  }
}
