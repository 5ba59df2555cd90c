package dev.partita.controller.decode;

import dev.partita.admission.dialect.Dialect;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields of each kind that the controller reads. The informers keep every pod, claim and node of a cluster, so
 * whatever is not listed here is skipped while it is decoded. Code that reads another field must list it first:
 * {@code KeptFieldsTest} fails otherwise.
 *
 * <p>A name that ends with a colon has its fields below it; any other is kept whole. What stands behind an asterisk has
 * a bound of its own, and text behind a tilde is cut off. {@code <gpus>} stands for the resources by which pods ask for
 * GPUs in other systems' ways. What is said of a list holds for each of its elements.
 */
public final class KeptFields {
  private static final String LIST =
      """
          pods Pod:
            metadata:
              name namespace uid resourceVersion creationTimestamp deletionTimestamp
              labels:
                gpu.partita.dev/admission
              annotations:
                gpu.partita.dev/gang gpu.partita.dev/gang-size gpu.partita.dev/converted-requests
                kubernetes.io/config.mirror
            spec:
              *nodeName *priority *preemptionPolicy *terminationGracePeriodSeconds *resourceClaims
              schedulingGates schedulingGroup nodeSelector tolerations
              affinity:
                nodeAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution
              overhead:
                cpu memory
              resources:
                requests:
                  cpu memory
              initContainers:
                name restartPolicy
                resources:
                  requests:
                    cpu memory <gpus>
                  limits:
                    <gpus>
              containers:
                name
                resources:
                  requests:
                    cpu memory <gpus>
                  limits:
                    <gpus>
            status:
              *phase *startTime *resourceClaimStatuses
              nodeAllocatableResourceClaimStatuses:
                containers mapping overhead
              allocatedResources:
                cpu memory
              resources:
                requests:
                  cpu memory
              initContainerStatuses:
                name
                allocatedResources:
                  cpu memory
                resources:
                  requests:
                    cpu memory
              containerStatuses:
                name
                allocatedResources:
                  cpu memory
                resources:
                  requests:
                    cpu memory
              conditions:
                type status reason message lastTransitionTime
          resourceclaims ResourceClaim:
            metadata:
              name namespace uid resourceVersion deletionTimestamp finalizers
              annotations:
                gpu.partita.dev/proposed-allocation
                ~gpu.partita.dev/resize gpu.partita.dev/resize-answer gpu.partita.dev/granted-sizes
            spec:
              devices
            status:
              *reservedFor:
                resource name uid
              *devices:
                driver pool device shareID
                data:
                  sizeInForce memoryUsed coresUsed
              allocation:
                allocationTimestamp nodeSelector
                devices:
                  config
                  *results:
                    request driver pool device shareID adminAccess consumedCapacity bindingConditions
          resourceclaimtemplates ResourceClaimTemplate:
            metadata:
              name namespace uid resourceVersion deletionTimestamp
              labels:
                app.kubernetes.io/managed-by
            spec:
              spec:
                devices:
                  requests
          nodes Node:
            metadata:
              name uid resourceVersion deletionTimestamp labels
            spec:
              unschedulable taints
            status:
              allocatable:
                cpu memory pods <gpus>
          namespaces Namespace:
            metadata:
              name uid resourceVersion labels
          resourceslices ResourceSlice:
            metadata:
              name generateName uid resourceVersion generation creationTimestamp deletionTimestamp
              labels annotations ownerReferences finalizers
            spec
          deviceclasses DeviceClass:
            metadata:
              name generateName uid resourceVersion generation creationTimestamp deletionTimestamp
              labels annotations ownerReferences finalizers
            spec
          devicetaintrules DeviceTaintRule:
            metadata:
              name uid resourceVersion
            spec
          podgroups PodGroup:
            metadata:
              name namespace uid resourceVersion
            spec:
              schedulingPolicy:
                gang
          gpunodes GpuNode:
            metadata:
              name generateName uid resourceVersion generation creationTimestamp deletionTimestamp
              labels annotations ownerReferences finalizers
            spec status
          gpuquotas GpuQuota:
            metadata:
              name uid resourceVersion generation
            spec status
          """;

  /** Kinds that whoever may make pods may write, and fill: of these an object may not have more than {@link #MOST}. */
  private static final Set<String> OF_TENANTS = Set.of("Pod", "PodGroup", "ResourceClaim", "ResourceClaimTemplate");

  /**
   * Bytes of heap, as {@link ObjectFilter} estimates them, that what is kept of {@code metadata}, {@code spec} or
   * {@code status} may take. An object has 1.5 MiB at most, of which one could make as many kept tolerations; a pod of
   * ten containers and two claims takes about 10 KiB.
   */
  static final int MOST = 64 << 10;

  /**
   * The same of a field that has a bound of its own, whatever stands beside it. It is more than API servers take where
   * they bound how much there is: of a claim 32 results and 256 pods that it is reserved for.
   */
  static final int MOST_APART = 256 << 10;

  /** How many characters are kept of a text that is cut off: more than are read of it, so that its reader sees that. */
  static final int MOST_OF_TEXT = 5000;

  /**
   * How deeply a kept value may nest: far more than any field of Kubernetes does, and no decoder's stack ends there.
   */
  static final int MOST_LEVELS = 100;

  /** Characters of a kept name: more than a key of Kubernetes has, a domain of 253 with a name of 63. */
  static final int MOST_OF_NAME = 512;

  /** Characters of a kept number. */
  static final int MOST_OF_NUMBER = 100;

  private static final String GPU_RESOURCES = "<gpus>";
  private static final String APART = "*";
  private static final String CUT = "~";
  private static final Fields ALL = new Fields(Map.of(), true, false, false);
  private static final Fields ALL_APART = new Fields(Map.of(), true, true, false);
  private static final Fields BEGINNING = new Fields(Map.of(), true, false, true);
  private static final Map<String, Kind> KINDS = parse();

  private KeptFields() {}

  /**
   * What is kept of an object, or of each element of a list.
   *
   * @param named by the names of its fields
   * @param whole whether all of them are kept
   * @param apart whether they have a bound of their own: without them, what is taken would count as free, or as
   *        nobody's
   * @param cut whether of a text the beginning is kept, since it must not keep out what stands beside it
   */
  record Fields(Map<String, Fields> named, boolean whole, boolean apart, boolean cut) {
    /** What is kept of the field; null if it is dropped. */
    @Nullable
    Fields of(String name) {
      if (whole) {
        return ALL;
      }
      @Nullable Fields field = named.get(name);
      return field == null && named.containsKey(GPU_RESOURCES) && Dialect.of(name).isPresent() ? ALL : field;
    }
  }

  /**
   * A kind.
   *
   * @param name such as Pod
   * @param bounded whether {@link #MOST} holds for its objects
   */
  record Kind(String name, Fields fields, boolean bounded) {}

  /** By a kind's plural, as it stands in paths; empty if no informer asks for it. */
  static Optional<Kind> ofPlural(String plural) {
    return Optional.ofNullable(KINDS.get(plural));
  }

  /** By the name of a kind. */
  static Optional<Kind> ofKind(String kind) {
    return KINDS.values().stream().filter(each -> each.name().equals(kind)).findFirst();
  }

  /**
   * The JSON of an object without the fields that are not listed for its kind.
   *
   * @throws IOException if it is no JSON
   * @throws IllegalArgumentException if no fields are listed for the kind
   */
  public static byte[] only(String kind, byte[] json) throws IOException {
    Kind known = ofKind(kind).orElseThrow(() -> new IllegalArgumentException("no fields are listed for " + kind));
    return ObjectFilter.object(known, json, json.length);
  }

  /** How much is kept of a field that stands in no list, by a path such as {@code spec.tolerations}. */
  static int most(String path) {
    return KINDS.values().stream().filter(Kind::bounded).anyMatch(kind -> isApart(kind.fields(), path))
        ? MOST_APART
        : MOST;
  }

  /**
   * Whether a number is kept: one of {@link #MOST_OF_NUMBER} characters at most that no decoder takes for infinite.
   *
   * @param number as it stands in JSON
   */
  public static boolean keeps(String number) {
    try {
      return number.length() <= MOST_OF_NUMBER && Double.isFinite(new BigDecimal(number).doubleValue());
    } catch (NumberFormatException e) { // its exponent is no int
      return false;
    }
  }

  private static boolean isApart(Fields fields, String path) {
    @Nullable Fields found = fields;
    for (String name : path.split("\\.", -1)) {
      found = found == null ? null : found.of(name);
    }
    return found != null && found.apart();
  }

  private static Map<String, Kind> parse() {
    Map<String, Kind> kinds = new HashMap<>();
    Deque<Map<String, Fields>> open = new ArrayDeque<>();
    for (String line : LIST.lines().toList()) {
      int depth = (line.length() - line.stripLeading().length()) / 2;
      while (open.size() > depth) {
        open.pop();
      }
      String words = line.strip();
      if (words.endsWith(":")) {
        boolean apart = words.startsWith(APART);
        String name = words.substring(apart ? 1 : 0, words.length() - 1);
        Map<String, Fields> below = new HashMap<>();
        if (depth == 0) {
          below.putAll(Map.of("apiVersion", ALL, "kind", ALL));
          String[] names = name.split(" ", -1);
          kinds.put(names[0],
              new Kind(names[1], new Fields(below, false, false, false), OF_TENANTS.contains(names[1])));
        } else {
          open.element().put(name, new Fields(below, false, apart, false));
        }
        open.push(below);
      } else {
        for (String name : words.split(" ", -1)) {
          Fields fields = name.startsWith(APART) ? ALL_APART : name.startsWith(CUT) ? BEGINNING : ALL;
          open.element().put(name.substring(fields.equals(ALL) ? 0 : 1), fields);
        }
      }
    }
    return Map.copyOf(kinds);
  }
}
