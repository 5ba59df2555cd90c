package dev.partita.cli.whatif;

import dev.partita.api.Driver;
import dev.partita.cli.rightsizing.RightSizing.Oversized;
import dev.partita.cli.rightsizing.RightSizing;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.whatif.ClusterSnapshot;
import dev.partita.controller.whatif.PodOutcome;
import dev.partita.controller.whatif.WhatIf;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which shares that hold far more than they ever used would have to be smaller for which waiting pods to run. The
 * allocator says both: with all of them smaller it says where a pod would go, and then, the largest gain first, as few
 * of them as it takes are made smaller, those on the pod's cards before those that share a quota with it. Pods of gangs
 * are left out.
 *
 * @param helped pods that would run then, in the order in which they were decided about
 * @param runAnyway how many waiting pods would run as it is
 * @param waiting how many pods wait
 */
record ShrinkPlan(List<Helped> helped, int runAnyway, int waiting) {
  ShrinkPlan {
    helped = List.copyOf(helped);
  }

  /**
   * A pod that would run.
   *
   * @param node where
   * @param shrunk shares that have to be smaller for it, besides those of the pods before it
   */
  record Helped(Pod pod, String node, List<Oversized> shrunk) {
    Helped {
      shrunk = List.copyOf(shrunk);
    }
  }

  /** Looks for it in a cluster in which these shares hold too much. */
  static ShrinkPlan of(ClusterSnapshot snapshot, RightSizing sizing) {
    return new Search(snapshot, sizing).plan();
  }

  /** Shares that have to be smaller, of all pods. */
  List<Oversized> shrunk() {
    return helped.stream().flatMap(pod -> pod.shrunk().stream()).toList();
  }

  private static final class Search {
    private final WhatIf asIs;
    private final WhatIf allSmaller;
    private final Map<String, ResourceClaim> claims = new HashMap<>();
    private final Map<String, List<Oversized>> open = new LinkedHashMap<>();

    Search(ClusterSnapshot snapshot, RightSizing sizing) {
      asIs = new WhatIf(snapshot);
      allSmaller = new WhatIf(snapshot);
      snapshot.claims().forEach(
          claim -> claims.put(claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName(), claim));
      for (Oversized share : sizing.oversized()) {
        open.computeIfAbsent(share.device().claimName(), _ -> new ArrayList<>()).add(share);
      }
      open.forEach((name, shares) -> allSmaller.replace(smaller(claim(name), shares)));
    }

    private ResourceClaim claim(String name) {
      return Objects.requireNonNull(claims.get(name), name);
    }

    ShrinkPlan plan() {
      List<Helped> helped = new ArrayList<>();
      int runAnyway = 0;
      int waiting = 0;
      for (Pod pod : asIs.waitingPods()) {
        if (asIs.gangOf(pod).isPresent()) {
          continue;
        }
        Optional<PodOutcome> outcome = asIs.place(pod);
        waiting += outcome.isPresent() ? 1 : 0;
        if (outcome.isPresent() && outcome.get() instanceof PodOutcome.Runs runs) {
          allSmaller.assume(runs);
          runAnyway++;
        } else if (outcome.isPresent() && allSmaller.decide(pod).orElse(null) instanceof PodOutcome.Runs there) {
          help(pod, there).ifPresent(helped::add);
        }
      }
      return new ShrinkPlan(helped, runAnyway, waiting);
    }

    /** Makes claims smaller until the pod runs; as they were, if it does not in the end. */
    private Optional<Helped> help(Pod pod, PodOutcome.Runs there) {
      List<String> made = new ArrayList<>();
      for (String name : candidates(pod, there)) {
        asIs.replace(smaller(claim(name), Objects.requireNonNull(open.get(name))));
        made.add(name);
        if (asIs.place(pod).orElse(null) instanceof PodOutcome.Runs runs) {
          allSmaller.assume(runs);
          List<Oversized> shrunk = made.stream()
              .flatMap(smaller -> Objects.requireNonNull(open.remove(smaller)).stream()).toList();
          return Optional.of(new Helped(pod, runs.node(), shrunk));
        }
      }
      made.forEach(name -> asIs.replace(claim(name)));
      return Optional.empty();
    }

    private List<String> candidates(Pod pod, PodOutcome.Runs there) {
      Set<CardKey> cards =
          there.plan().outcome().bookings().stream().flatMap(List::stream).map(Booking::card)
              .collect(Collectors.toSet());
      String namespace = pod.getMetadata().getNamespace();
      Comparator<Map.Entry<String, List<Oversized>>> onCardsFirst =
          Comparator.comparing(entry -> entry.getValue().stream()
              .noneMatch(share -> cards.contains(share.device().booking().card())));
      return open.entrySet().stream()
          .filter(entry -> entry.getValue().stream().anyMatch(
              share -> cards.contains(share.device().booking().card()) || share.device().namespace().equals(namespace)))
          .sorted(onCardsFirst.thenComparing(
              entry -> -entry.getValue().stream().mapToLong(Oversized::gain).sum()))
          .map(Map.Entry::getKey).toList();
    }

    /** The claim as if it had been allocated what its shares should hold. */
    private static ResourceClaim smaller(ResourceClaim claim, List<Oversized> shares) {
      ResourceClaim smaller = new ResourceClaimBuilder(claim).build();
      for (DeviceRequestAllocationResult result : smaller.getStatus().getAllocation().getDevices().getResults()) {
        Optional<Booking> now = AllocatedClaim.booking(claim, result);
        if (now.isEmpty() || result.getConsumedCapacity() == null) {
          continue;
        }
        long memory = shares.stream().filter(share -> share.device().booking().equals(now.get()))
            .mapToLong(Oversized::proposed).findFirst().orElse(now.get().memory());
        Map<String, Quantity> consumed = new HashMap<>(result.getConsumedCapacity());
        consumed.put("memory", new Quantity(String.valueOf(memory)));
        consumed.put("cores", new Quantity(String.valueOf(now.get().cores())));
        result.setConsumedCapacity(consumed);
      }
      if (smaller.getMetadata().getAnnotations() != null) {
        smaller.getMetadata().getAnnotations().remove(Driver.GRANTED_SIZES_ANNOTATION);
      }
      smaller.getStatus().setDevices(List.of()); // the size in force is another one, too
      return smaller;
    }
  }
}
