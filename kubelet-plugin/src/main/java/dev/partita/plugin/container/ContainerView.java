package dev.partita.plugin.container;

import dev.partita.api.RequestName;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodExtendedResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import io.fabric8.kubernetes.api.model.ResourceClaim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a claim looks like from inside the containers that use it.
 *
 * @param env the mirror of each share's quota under HAMi's names, by share key. A number is CUDA's for the card in the
 *        container; where two containers would number a share differently, or it is not known which containers there
 *        are, the numbered ones are left out: the quota file holds what counts
 * @param mixed whether a container has a whole card of this claim beside a share of any claim
 */
public record ContainerView(Map<String, List<String>> env, boolean mixed) {
  private static final long MIB = 1L << 20;

  public ContainerView {
    env = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(env));
  }

  /**
   * The view when a claim's own devices make up a container.
   *
   * @param grants the claim's devices
   */
  public static ContainerView ofClaimAlone(List<Grant> grants) {
    return of(grants, List.of(new LinkedHashSet<>(grants)));
  }

  /**
   * Whether a claim cannot be prepared unless its containers are known: whole cards come with other libraries where
   * they stand beside a share of another claim.
   */
  public static boolean needsContainers(List<Grant> grants) {
    return hasWhole(grants) && !hasShare(grants);
  }

  /** The view when nothing is known of the containers. */
  public static ContainerView ofUnknown(List<Grant> grants) {
    ContainerView alone = of(grants, List.of());
    return new ContainerView(alone.env(), hasWhole(grants) && hasShare(grants));
  }

  /**
   * The view from the containers of some pods.
   *
   * @param claimName the claim's name
   * @param grants the claim's devices
   * @param pods pods of the claim's namespace that use it
   * @param others devices of the other claims of these pods, by the claims' names
   */
  public static ContainerView ofPods(
      String claimName,
      List<Grant> grants,
      List<Pod> pods,
      Map<String, List<Grant>> others) {
    Map<String, List<Grant>> byClaim = new HashMap<>(others);
    byClaim.put(claimName, grants);
    return ofContainers(grants, pods.stream().flatMap(pod -> containersOf(pod, byClaim).stream()).toList());
  }

  /**
   * The view from some containers.
   *
   * @param grants the claim's devices
   * @param containers what each has, of all claims; those that have nothing of this one do not matter
   */
  public static ContainerView ofContainers(List<Grant> grants, List<Set<Grant>> containers) {
    return of(grants, containers.stream().filter(held -> grants.stream().anyMatch(held::contains)).toList());
  }

  /**
   * What each container of a pod has.
   *
   * @param byClaim devices of the pod's claims, by the claims' names
   */
  public static List<Set<Grant>> containersOf(Pod pod, Map<String, List<Grant>> byClaim) {
    Map<String, String> names = claimNamesByEntry(pod);
    return containersOf(pod).stream().map(container -> grantsOf(pod, container, names, byClaim)).toList();
  }

  /** Names of all claims that a pod uses. */
  public static Set<String> claimNames(Pod pod) {
    Set<String> names = new LinkedHashSet<>(claimNamesByEntry(pod).values());
    extended(pod).map(PodExtendedResourceClaimStatus::getResourceClaimName).ifPresent(names::add);
    return names;
  }

  private static ContainerView of(List<Grant> grants, List<Set<Grant>> containers) {
    Map<String, List<String>> env = new TreeMap<>();
    boolean mixed = false;
    for (Grant grant : grants) {
      if (grant.share().isPresent()) {
        env.put(grant.shareKey(), variables(grant, grant.share().get(), containers));
      }
    }
    for (Set<Grant> container : containers) {
      mixed |= hasShare(container)
          && grants.stream().anyMatch(g -> g.share().isEmpty() && !g.isOpaque() && container.contains(g));
    }
    return new ContainerView(env, mixed);
  }

  private static List<String> variables(Grant grant, Share share, List<Set<Grant>> containers) {
    List<String> variables = new ArrayList<>();
    List<List<String>> numbered =
        containers.stream().filter(c -> c.contains(grant)).map(c -> numbered(grant, c)).distinct().toList();
    if (numbered.size() == 1) {
      variables.addAll(numbered.getFirst());
    }
    if (share.cores() > 0) {
      variables.add("GPU_CORE_UTILIZATION_POLICY=" + policy(share.coreLimit()));
    }
    variables.add("CUDA_TASK_PRIORITY=" + share.priority());
    return variables;
  }

  /**
   * The numbered variables of a share in one container: shares of the same card count together, as they do for the
   * library.
   */
  private static List<String> numbered(Grant grant, Set<Grant> container) {
    List<CardIdentity> cards =
        container.stream().filter(held -> !held.isOpaque()).map(Grant::card).distinct().sorted(CardIdentity.CUDA_ORDER)
            .toList();
    int number = cards.indexOf(grant.card());
    long bytes = 0;
    int cores = 0;
    for (Grant held : container) {
      if (held.card().equals(grant.card()) && held.mig().equals(grant.mig()) && held.share().isPresent()) {
        bytes += held.share().get().memoryBytes();
        cores += held.share().get().cores();
      }
    }
    List<String> variables = new ArrayList<>();
    variables.add("CUDA_DEVICE_MEMORY_LIMIT_" + number + "=" + bytes / MIB + "m");
    if (cores > 0) {
      variables.add("CUDA_DEVICE_SM_LIMIT_" + number + "=" + Math.min(cores, 100));
    }
    return variables;
  }

  private static String policy(CoreLimit limit) {
    return switch (limit) {
      case HARD -> "force";
      case SOFT -> "default";
      case NONE -> "disable";
    };
  }

  private static Set<Grant> grantsOf(
      Pod pod,
      Container container,
      Map<String, String> names,
      Map<String, List<Grant>> byClaim) {
    Set<Grant> held = new LinkedHashSet<>();
    if (container.getResources() != null) {
      for (ResourceClaim entry : orEmpty(container.getResources().getClaims())) {
        add(held, byClaim.get(names.getOrDefault(entry.getName(), "")), entry.getRequest());
      }
    }
    extended(pod)
        .ifPresent(
            status -> orEmpty(status.getRequestMappings()).stream()
                .filter(m -> Objects.equals(m.getContainerName(), container.getName()))
                .forEach(m -> add(held, byClaim.get(status.getResourceClaimName()), m.getRequestName())));
    return held;
  }

  private static void add(Set<Grant> held, @Nullable List<Grant> grants, @Nullable String request) {
    for (Grant grant : orEmpty(grants)) {
      if (request == null || request.isEmpty() || grant.requests().contains(RequestName.withoutSubrequest(request))) {
        held.add(grant);
      }
    }
  }

  private static List<Container> containersOf(Pod pod) {
    return pod.getSpec() == null
        ? List.of()
        : Stream
            .concat(orEmpty(pod.getSpec().getInitContainers()).stream(),
                orEmpty(pod.getSpec().getContainers()).stream())
            .toList();
  }

  private static Map<String, String> claimNamesByEntry(Pod pod) {
    Map<String, String> names = new TreeMap<>();
    if (pod.getSpec() != null) {
      for (PodResourceClaim entry : orEmpty(pod.getSpec().getResourceClaims())) {
        if (entry.getResourceClaimName() != null) {
          names.put(entry.getName(), entry.getResourceClaimName());
        }
      }
    }
    if (pod.getStatus() != null) {
      for (PodResourceClaimStatus status : orEmpty(pod.getStatus().getResourceClaimStatuses())) {
        if (status.getResourceClaimName() != null) {
          names.put(status.getName(), status.getResourceClaimName());
        }
      }
    }
    return names;
  }

  private static Optional<PodExtendedResourceClaimStatus> extended(Pod pod) {
    return pod.getStatus() == null
        ? Optional.empty()
        : Optional.ofNullable(pod.getStatus().getExtendedResourceClaimStatus());
  }

  private static boolean hasWhole(java.util.Collection<Grant> grants) {
    return grants.stream().anyMatch(g -> g.share().isEmpty() && !g.isOpaque());
  }

  private static boolean hasShare(java.util.Collection<Grant> grants) {
    return grants.stream().anyMatch(g -> g.share().isPresent());
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }
}
