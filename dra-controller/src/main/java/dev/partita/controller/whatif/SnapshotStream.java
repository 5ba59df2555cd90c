package dev.partita.controller.whatif;

import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import dev.partita.controller.stream.ClusterStream;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The stream that a cluster's pods would be if they came anew: its nodes with cards, empty, and then every pod that has
 * claims of ours, running or waiting, in the order in which they were made. No pod leaves, since nobody knows when it
 * will. Pods without our devices stay where they are: what they request of a node is not there for others.
 *
 * @param stream pods are named {@code namespace/name}
 * @param leftOut how many pods a stream cannot say: with MIG instances, with cards in turn with others, with all cards
 *        of a node, with more than a claim can hold as the first choice, or with devices of several kinds
 */
public record SnapshotStream(ClusterStream stream, int leftOut) {
  /** Reads it from a snapshot. */
  public static SnapshotStream of(ClusterSnapshot snapshot) {
    return new Reading(snapshot).stream();
  }

  private static final class Reading {
    private final ClusterSnapshot snapshot;
    private final SnapshotObjects objects;
    private final Inventory inventory;
    private final ClaimReader reader;
    private final Eligibility eligibility;
    private final List<Device> kinds;
    private final Set<String> models;

    Reading(ClusterSnapshot snapshot) {
      this.snapshot = snapshot;
      objects = new SnapshotObjects(snapshot);
      inventory = snapshot.cluster().inventory();
      DeviceSelectors selectors = new DeviceSelectors();
      reader = new ClaimReader(objects::deviceClass, selectors);
      eligibility = new Eligibility(selectors);
      kinds = kinds(inventory);
      models = kinds.stream().map(device -> device.card().model()).collect(Collectors.toCollection(TreeSet::new));
    }

    SnapshotStream stream() {
      List<Pod> ours = new ArrayList<>();
      NodeLoads others = new NodeLoads(_ -> {});
      for (Pod pod : objects.pods()) {
        if (PodClaims.isLive(pod) && !requests(pod).isEmpty()) {
          ours.add(pod);
        } else if (PodClaims.takesRoom(pod)) {
          others.put(pod.getMetadata().getUid(), pod.getSpec().getNodeName(), PodRequests.of(pod));
        }
      }
      ours.sort(PodOrder.OLDEST_FIRST);
      List<StreamPod> pods = new ArrayList<>();
      for (Pod pod : ours) {
        cards(requests(pod)).ifPresent(cards -> pods.add(streamPod(pod, cards, seconds(ours.getFirst(), pod))));
      }
      List<StreamNode> nodes =
          inventory.hosts().values().stream().filter(host -> !host.cards().isEmpty())
              .map(host -> streamNode(host, capacity(host, others))).toList();
      return new SnapshotStream(new ClusterStream("cluster of " + snapshot.time(), nodes, pods),
          ours.size() - pods.size());
    }

    /** One device of each mode of each model, of a healthy card where there is one: selectors are asked of these. */
    private static List<Device> kinds(Inventory inventory) {
      Map<List<Object>, Device> kinds = new LinkedHashMap<>();
      inventory.hosts().values().stream().flatMap(host -> host.devices().stream())
          .sorted(Comparator.comparing(device -> device.taints().size()))
          .forEach(device -> kinds.putIfAbsent(List.of(device.card().model(), device.mode()), device));
      return List.copyOf(kinds.values());
    }

    /** What the pod's claims ask of our devices. */
    private List<ClaimRequest> requests(Pod pod) {
      List<ClaimRequest> requests = new ArrayList<>();
      PodClaims.of(pod).orElse(List.of()).stream().map(objects::claim).forEach(claim -> {
        if (claim != null && reader.read(claim) instanceof ClaimReading.Understood(ClaimRequest request)) {
          requests.add(request);
        }
      });
      return requests;
    }

    private static StreamPod streamPod(Pod pod, Cards cards, double arrival) {
      return new StreamPod(pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName(), cards,
          NodeFit.needs(pod), arrival);
    }

    private static double seconds(Pod first, Pod pod) {
      return Math.max(0, Duration.between(created(first), created(pod)).toMillis() / 1000.0);
    }

    private static Instant created(Pod pod) {
      @Nullable String text = pod.getMetadata().getCreationTimestamp();
      try {
        return text == null ? Instant.EPOCH : Instant.parse(text);
      } catch (DateTimeParseException e) {
        return Instant.EPOCH;
      }
    }

    /** What these claims ask for together; empty if a stream cannot say it. */
    private Optional<Cards> cards(List<ClaimRequest> claims) {
      List<Optional<Cards>> each =
          claims.stream()
              .flatMap(claim -> claim.requests().stream()
                  .map(request -> cards(claim, request.alternatives().getFirst())))
              .toList();
      List<Cards> said = each.stream().flatMap(Optional::stream).toList();
      boolean ofOneKind = said.stream().map(cards -> of(cards, 1)).distinct().count() == 1;
      return ofOneKind && said.size() == each.size()
          ? Optional.of(of(said.getFirst(), said.stream().mapToInt(Cards::count).sum()))
          : Optional.empty();
    }

    private static Cards of(Cards cards, int count) {
      return switch (cards) {
        case Cards.None none -> none;
        case Cards.Whole whole -> new Cards.Whole(count, whole.among());
        case Cards.Share share -> new Cards.Share(count, share.memory(), share.cores(), share.among());
      };
    }

    private Optional<Cards> cards(ClaimRequest claim, DeviceRequest request) {
      List<Match> matches = new ArrayList<>();
      for (Device device : kinds) {
        if (eligibility.inPrinciple(device, request) instanceof Match match) {
          matches.add(match);
        }
      }
      if (matches.isEmpty() || !(request.count() instanceof DeviceRequest.Count.Exactly(int count))
          || count > ClaimRequest.MOST_RESULTS) {
        return Optional.empty();
      }
      Match first = matches.getFirst();
      Among among = new Among(models(matches, first), attribute(claim, request));
      return switch (first.takes()) {
        case CARD -> Optional.of(new Cards.Whole(count, among));
        case SHARE -> Optional.of(new Cards.Share(count, first.memory(), first.cores(), among));
        case INSTANCE, INSTANCE_SHARE, TURNS, MPS, NOTHING -> Optional.empty();
      };
    }

    /** Those that serve the request in that mode; none are named if it is all. */
    private List<String> models(List<Match> matches, Match first) {
      Set<String> served =
          matches.stream().filter(match -> match.device().mode() == first.device().mode())
              .map(match -> match.device().card().model()).collect(Collectors.toCollection(TreeSet::new));
      return served.equals(models) ? List.of() : List.copyOf(served);
    }

    private static Optional<String> attribute(ClaimRequest claim, DeviceRequest request) {
      return claim.constraints().stream()
          .filter(constraint -> constraint instanceof Constraint.Equal && constraint.covers(request.name()))
          .map(constraint -> constraint.attribute().substring(constraint.attribute().lastIndexOf('/') + 1))
          .filter(ClusterStream.ATTRIBUTES::contains).findFirst();
    }

    private static StreamNode streamNode(GpuHost host, PodNeeds capacity) {
      Card first = host.cards().getFirst();
      long perNuma =
          host.cards().stream().filter(card -> card.gpu().numaNode() != null)
              .collect(Collectors.groupingBy(card -> String.valueOf(card.gpu().numaNode()), Collectors.counting()))
              .values().stream().mapToLong(Long::longValue).max().orElse(host.cards().size());
      return new StreamNode(host.name(), first.model(), host.cards().size(), first.allocatableMemory(), (int) perNuma,
          capacity);
    }

    private PodNeeds capacity(GpuHost host, NodeLoads others) {
      @Nullable Node node = objects.node(host.name());
      return node == null ? Capacity.ENDLESS.total() : NodeFit.capacity(node, others.of(host.name())).free();
    }
  }
}
