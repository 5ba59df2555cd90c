package dev.partita.controller.nodestatus;

import dev.partita.api.node.GpuNode;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ResizeAnswer;
import dev.partita.api.resize.ShareSize;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Books;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocatedShare;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes into the status of GpuNodes which sizes were granted to shares that are in use there, for the nodes' plugins
 * to put into force, and which were asked for, for them to write into claims. For one thread.
 */
public final class NodeSizes {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSizes.class);

  /** How long to wait before looking again at a card that has not enough. */
  public static final Duration AGAIN = Duration.ofSeconds(5);

  /**
   * So many of each are told of: an object of more than 1.5 MiB is not taken, and then the plugin could not say how its
   * cards are either. No card has so many shares in earnest.
   */
  static final int MOST = 1_024;

  private final NodeStatusWriter writer;
  private final ClusterView view;
  private final Duration again;

  /** @param again how long to wait before looking again, such as {@link #AGAIN} */
  public NodeSizes(NodeStatusWriter writer, ClusterView view, Duration again) {
    this.again = again;
    this.writer = writer;
    this.view = view;
  }

  /**
   * Writes the sizes if the node is to have others.
   *
   * @return how long to wait before looking again, if a card has not enough for all that was granted
   */
  public Optional<Duration> tell(GpuNode node, GpuHost host) {
    Plan plan = plan(view.claimsOn(host.name()), host, node.getStatus().grantedSizes());
    if (!plan.resizes().equals(node.getStatus().resizes())) {
      writer.write(node, node.getStatus().withResizes(plan.resizes()));
      LOG.info("gpunode {}: its plugin is told the sizes of {} resized shares", host.name(),
          plan.resizes().granted().size());
    }
    return plan.isWhole() ? Optional.empty() : Optional.of(again);
  }

  /**
   * What a node's plugin is to be told.
   *
   * @param isWhole whether these are all sizes that were granted
   */
  record Plan(NodeResizes resizes, boolean isWhole) {}

  /**
   * What to tell. As long as a card has not enough for all that its claims were granted, as when two controllers have
   * granted at once, its shares keep what was told before, but for those that are to have less: that makes room.
   *
   * @param claims that have something of the node
   * @param told what its plugin was told before
   */
  static Plan plan(Collection<ResourceClaim> claims, GpuHost host, List<GrantedSize> told) {
    Books books = new Books();
    Map<String, GrantedSize> before = new HashMap<>();
    told.forEach(size -> before.put(size.shareId(), size));
    if (claims.stream().anyMatch(GrantedSizes::isOn)) {
      claims.forEach(claim -> books.put(claim.getMetadata().getUid(), AllocatedClaim.taken(claim)));
    }
    Turns<GrantedSize> sizes = new Turns<>(Comparator.comparing(GrantedSize::shareId));
    Turns<AskedSize> asked = new Turns<>(Comparator.comparing(AskedSize::claimUid));
    boolean whole = true;
    for (ResourceClaim claim : claims) {
      String namespace = claim.getMetadata().getNamespace();
      if (AllocatedClaim.nodeOfOurs(claim).equals(Optional.of(host.name()))) { // not only proposed for it
        asked(claim).ifPresent(size -> asked.add(namespace, size));
      }
      GrantedSizes granted = GrantedSizes.of(claim);
      if (granted.byShareId().isEmpty()) {
        continue;
      }
      for (AllocatedShare share : AllocatedClaim.shares(claim)) {
        String id = GrantedSizes.key(share.shareId());
        Optional<ShareSize> size = granted.ofShare(id);
        if (size.isPresent() && !size.get().isWithin(share.sizes().inForce())
            && isTooMuch(host, share.card(), books.of(share.card()))) {
          whole = false;
          Optional.ofNullable(before.get(id)).ifPresent(its -> sizes.add(namespace, its));
        } else {
          size.ifPresent(
              its -> sizes.add(namespace, new GrantedSize(claim.getMetadata().getUid(), id, its.toString())));
        }
      }
    }
    return new Plan(new NodeResizes(sizes.first(MOST), asked.first(MOST)), whole);
  }

  /** What namespaces would have told, of which each has its first one told before any has its second. */
  private static final class Turns<T> {
    private final Map<String, List<T>> byNamespace = new TreeMap<>();
    private final Comparator<T> order;

    private Turns(Comparator<T> order) {
      this.order = order;
    }

    private void add(String namespace, T what) {
      byNamespace.computeIfAbsent(namespace, _ -> new ArrayList<>()).add(what);
    }

    /** In order; of more than so many, as many of each namespace as that leaves room for. */
    private List<T> first(int most) {
      byNamespace.values().forEach(its -> its.sort(order));
      int longest = byNamespace.values().stream().mapToInt(List::size).max().orElse(0);
      return IntStream.range(0, longest).boxed()
          .flatMap(turn -> byNamespace.values().stream().filter(its -> turn < its.size()).map(its -> its.get(turn)))
          .limit(most).sorted(order).toList();
    }
  }

  /** By the answer, which is written once a second at most, whatever the claim's owner does. */
  private static Optional<AskedSize> asked(ResourceClaim claim) {
    return ResizeAnswer.of(claim).flatMap(ResizeAnswer::size)
        .map(size -> new AskedSize(claim.getMetadata().getUid(), size.toString()));
  }

  /** Whether there is something of the claim to tell its node. */
  public static boolean isToTell(ResourceClaim claim) {
    return GrantedSizes.isOn(claim) || asked(claim).isPresent();
  }

  private static boolean isTooMuch(GpuHost host, CardKey key, Account taken) {
    Optional<Card> card = host.cards().stream().filter(each -> each.key().equals(key)).findFirst();
    return card.isEmpty() || taken.exceeds(card.get());
  }
}
