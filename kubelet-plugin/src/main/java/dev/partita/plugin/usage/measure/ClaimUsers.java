package dev.partita.plugin.usage.measure;

import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Tells whether processes still use what a claim has, before it is released without kubelet's asking. A container that
 * runs may use its card at any time, so a process of one of the claim's pods counts as much as one that is on the card.
 * What cannot be seen counts as used.
 */
public final class ClaimUsers {
  private final ShareFolders folders;
  private final MigControl cards;
  private final HostProcesses host;

  /** @param cards where NVML tells who is on a card */
  public ClaimUsers(ShareFolders folders, MigControl cards) {
    this(folders, cards, HostProcesses.SEEN);
  }

  ClaimUsers(ShareFolders folders, MigControl cards, HostProcesses host) {
    this.folders = folders;
    this.cards = cards;
    this.host = host;
  }

  /**
   * Why what the claim has cannot be released; empty if nobody uses it.
   *
   * @param grants what it has
   * @param pods UIDs of the pods that it was reserved for, as far as they are known
   */
  public Optional<String> of(String uid, Collection<Grant> grants, Set<String> pods) throws IOException {
    if (folders.isInUse(uid)) {
      return Optional.of("a process holds memory of one of its shares");
    }
    List<Grant> withoutLedger = grants.stream().filter(grant -> grant.use().isUsedWithoutLedger()).toList();
    if (!host.seesAll()) {
      return withoutLedger.isEmpty()
          ? Optional.empty()
          : Optional.of(
              "who uses " + withoutLedger.getFirst().device()
                  + " cannot be seen without the node's processes (hostPID)");
    }
    Optional<String> running = running(uid, pods);
    if (running.isPresent()) {
      return running;
    }
    for (Grant grant : withoutLedger) {
      Optional<String> used = onCard(grant);
      if (used.isPresent()) {
        return used;
      }
    }
    return Optional.empty();
  }

  /** A process of one of the pods, or one that has a share of the claim mounted. */
  private Optional<String> running(String uid, Set<String> pods) throws IOException {
    Optional<RegionsFolder> regions = regions();
    for (long pid : host.pids()) {
      Optional<String> pod = host.pod(pid);
      if (pod.filter(pods::contains).isPresent()) {
        return Optional.of("process " + pid + " of its pod " + pod.get() + " runs");
      }
      boolean looks = pod.isPresent() && regions.isPresent();
      if (looks && host.mounted(pid, regions.get()).stream().anyMatch(share -> share.uid().equals(uid))) {
        return Optional.of("process " + pid + " of pod " + pod.get() + " has one of its shares mounted");
      }
    }
    return Optional.empty();
  }

  /**
   * A pod's process on the card. A process of the node itself has the card without any claim, and is no reason to keep
   * a claim's devices.
   */
  private Optional<String> onCard(Grant grant) {
    String card = grant.card().uuid();
    try {
      Optional<MigControl.GpuInstance> instance = Optional.empty();
      if (grant.mig().isPresent()) {
        MigInstance mig = grant.mig().get();
        instance =
            cards.mig(card).instances().stream()
                .filter(i -> i.start() == mig.start() && i.size() == mig.size())
                .findFirst();
        if (instance.isEmpty()) {
          return Optional.empty(); // it was ended, which the driver does not do under a process
        }
      }
      for (CardUser user : usersOf(card, instance.map(i -> OptionalInt.of(i.id())).orElse(OptionalInt.empty()))) {
        Optional<String> pod = host.pod(user.pid());
        if (pod.isPresent()) {
          return Optional.of("process " + user.pid() + " of pod " + pod.get() + " uses " + grant.device());
        }
      }
      return Optional.empty();
    } catch (NvmlException e) {
      return e.code() == NvmlException.DRIVER_NOT_LOADED
          ? Optional.empty()
          : Optional.of("NVML does not say who uses " + grant.device() + ": " + e.getMessage());
    }
  }

  /** The users of an instance, or of the card. A process for which NVML gives no instance may be on any. */
  private List<CardUser> usersOf(String card, OptionalInt instance) throws NvmlException {
    List<CardUser> users = new ArrayList<>(cards.users(card));
    users.removeIf(
        user -> instance.isPresent() && user.gpuInstance().isPresent() && !user.gpuInstance().equals(instance));
    return users;
  }

  private Optional<RegionsFolder> regions() throws IOException {
    try {
      return Optional.of(RegionsFolder.of(folders.runRoot()));
    } catch (NoSuchFileException e) {
      return Optional.empty(); // nothing was prepared since the machine started
    }
  }
}
