package dev.partita.plugin.usage.measure;

import dev.partita.plugin.grant.ClaimRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Finds out which shares the container of a process has, by what the kernel says: the shares whose usage regions are
 * mounted where the process runs, and those of claims that its pod has.
 *
 * <p>A record lock alone does not say whose a process is. The kernel names the process that took the lock, which may
 * have ended since. For example, a child that shares its parent's descriptors (clone(2), CLONE_FILES) takes the lock
 * and ends. The lock stays with the parent, and the next process that gets the child's pid seems to hold it, even if it
 * is another tenant's. So a lock counts only for a process whose container has the share.
 *
 * <p>What was found out about a process is kept for as long as every look asks for it: neither its mounts of regions
 * nor its pod change.
 */
public final class ContainerShares {
  /**
   * @param mounted the shares whose regions are mounted there
   * @param uncontained whether it runs with this process' own mounts, and so in no container
   * @param pod its UID
   */
  private record Place(Set<ShareRef> mounted, boolean uncontained, Optional<String> pod) {
    boolean isKnown() {
      return uncontained || !mounted.isEmpty() || pod.isPresent();
    }
  }

  private final HostProcesses host;
  private final PodClaims pods;
  private final Supplier<RegionsFolder> regionsNow;
  private Map<ProcessIdentity, Place> before = Map.of();
  private Map<ProcessIdentity, Place> now = new HashMap<>();
  private RegionsFolder regions = RegionsFolder.NONE; // as it was found in this look

  /**
   * @param regionsNow where the regions are; asked once in a look if they are there
   */
  public ContainerShares(HostProcesses host, PodClaims pods, Supplier<RegionsFolder> regionsNow) {
    this.host = host;
    this.pods = pods;
    this.regionsNow = regionsNow;
  }

  /** Begins a look. A process that is not asked about in it is forgotten with the next. */
  public void beginLook() {
    before = now;
    now = new HashMap<>();
    regions = RegionsFolder.NONE;
  }

  /** Whether the process' container has a share. */
  public boolean has(ProcessIdentity process, WatchedShare share) {
    Place place = place(process);
    return place.uncontained()
        || place.mounted().contains(share.ref())
        || ofPod(place, List.of(share)).contains(share.ref());
  }

  /** Those of the shares that its container has: by its mounts or, where it has hidden them, by its pod. */
  public Set<ShareRef> of(ProcessIdentity process, List<WatchedShare> shares) {
    Place place = place(process);
    Set<ShareRef> mounted = new TreeSet<>(place.mounted());
    mounted.retainAll(shares.stream().map(WatchedShare::ref).collect(Collectors.toSet()));
    return mounted.isEmpty() ? ofPod(place, shares) : mounted;
  }

  private Set<ShareRef> ofPod(Place place, List<WatchedShare> shares) {
    List<ClaimRef> asked = shares.stream().map(WatchedShare::claim).toList();
    Set<String> claims = place.pod().map(pod -> pods.of(pod, asked)).orElse(Set.of());
    return shares.stream()
        .map(WatchedShare::ref)
        .filter(ref -> claims.contains(ref.uid()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private RegionsFolder regions() {
    if (regions.equals(RegionsFolder.NONE)) {
      regions = regionsNow.get();
    }
    return regions;
  }

  private Place place(ProcessIdentity process) {
    Place known = now.get(process);
    if (known == null) {
      known = before.get(process);
      if (known == null || !known.isKnown()) {
        known =
            new Place(Set.copyOf(host.mounted(process.pid(), regions())), host.isUncontained(process.pid()),
                host.pod(process.pid()));
      }
      now.put(process, known);
    }
    return known;
  }
}
