package dev.partita.api;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Identity of the driver: the names under which Kubernetes and users know it. */
public final class Driver {
  /** DRA driver name, as in {@code ResourceSlice.spec.driver} and in opaque configs. */
  public static final String NAME = "gpu.partita.dev";

  /** API group of Partita's custom resources and opaque config kinds. */
  public static final String API_GROUP = "gpu.partita.dev";

  public static final String API_VERSION = "v1alpha1";

  /** {@code apiVersion} of Partita's custom resources and opaque config kinds. */
  public static final String GROUP_VERSION = API_GROUP + "/" + API_VERSION;

  /** DeviceClass of a share of any card. */
  public static final String SHARE_CLASS = NAME;

  /** DeviceClass of a whole card. */
  public static final String WHOLE_CLASS = "whole." + NAME;

  /** DeviceClass of a MIG instance of any profile. */
  public static final String MIG_CLASS = "mig." + NAME;

  /** DeviceClass of a share of a MIG instance of any profile; made when a node offers one. */
  public static final String MIG_SHARE_CLASS = "shared." + MIG_CLASS;

  /** DeviceClass of a share of any opaque card, or of all of one. */
  public static final String OPAQUE_CLASS = "opaque." + NAME;

  /**
   * Taint key on devices that the controller allocates, so that kube-scheduler leaves them alone: value
   * {@link #CONTROLLER_TAINT_VALUE}, effect NoSchedule.
   */
  public static final String ALLOCATOR_TAINT = NAME + "/allocator";

  public static final String CONTROLLER_TAINT_VALUE = "controller";

  /**
   * Label on a Node, for whoever adds nodes: who allocates its devices, as a GpuNode's spec.allocator says it. It
   * counts when the GpuNode is made.
   */
  public static final String ALLOCATOR_LABEL = NAME + "/allocator";

  /**
   * Label on a Node, for whoever adds nodes: the modes in which its cards are offered, as a GpuNode's spec.publish says
   * them, with dots between. It counts when the GpuNode is made.
   */
  public static final String PUBLISH_LABEL = NAME + "/publish";

  /** Taint key on a device whose card is not healthy: the value is the reason, effect NoSchedule. */
  public static final String HEALTH_TAINT = NAME + "/unhealthy";

  /** Taint key on devices of a card that new claims are kept off by its GpuNode, without value, effect NoSchedule. */
  public static final String CORDON_TAINT = NAME + "/cordoned";

  /**
   * Taint key on devices of a card that is to be offered in another way once what is allocated of it is released,
   * without value, effect NoSchedule.
   */
  public static final String CHANGING_TAINT = NAME + "/changing";

  /** Scheduling gate of pods whose claims the controller is to allocate before kube-scheduler looks at them. */
  public static final String ALLOCATION_GATE = NAME + "/allocation";

  /** Condition of pods whose claims had to wait: whether the controller has allocated them, and if not, why. */
  public static final String ALLOCATED_CONDITION = NAME + "/Allocated";

  /**
   * Annotation on a claim: the allocation that a controller is about to write, so that every other one counts it as
   * taken.
   */
  public static final String PROPOSAL_ANNOTATION = NAME + "/proposed-allocation";

  /**
   * Annotation on a claim, for its owner to write: the size that its shares are to have while they are in use, such as
   * {@code memory=12Gi,cores=40}.
   */
  public static final String RESIZE_ANNOTATION = NAME + "/resize";

  /** Annotation on a claim, which only the controller writes: what became of the size that is asked for. */
  public static final String RESIZE_ANSWER_ANNOTATION = NAME + "/resize-answer";

  /** Annotation on a claim, which only the controller writes: the sizes that it has granted, by shareID. */
  public static final String GRANTED_SIZES_ANNOTATION = NAME + "/granted-sizes";

  /** Annotation on pods: the gang that the pod belongs to, by a name within its namespace. */
  public static final String GANG_ANNOTATION = NAME + "/gang";

  /** Annotation on pods of a gang: how many there must be before any of them is allocated anything. */
  public static final String GANG_SIZE_ANNOTATION = NAME + "/gang-size";

  /**
   * Annotation on pods that asked for GPUs in another system's way: what they asked for, from which the controller
   * makes the ResourceClaimTemplates that they refer to.
   */
  public static final String CONVERTED_REQUESTS_ANNOTATION = NAME + "/converted-requests";

  /** Label on every object that Partita's controller makes and owns. */
  public static final String MANAGED_BY_LABEL = "app.kubernetes.io/managed-by";

  public static final String MANAGED_BY_CONTROLLER = "partita-dra-controller";

  private static final String POOL_SUFFIX = "/gpu";

  private static final Pattern NOT_A_LABEL = Pattern.compile("[^a-z0-9-]+");

  private Driver() {}

  /**
   * The pool that holds a node's cards. The suffix keeps it apart from other drivers' pools: kube-scheduler 1.36 keys
   * its counter caches by pool name alone.
   */
  public static String poolOf(String nodeName) {
    return nodeName + POOL_SUFFIX;
  }

  /** The node whose cards that pool holds; empty if it is no pool of {@link #poolOf}. */
  public static Optional<String> nodeOfPool(String pool) {
    return pool.endsWith(POOL_SUFFIX) && pool.length() > POOL_SUFFIX.length()
        ? Optional.of(pool.substring(0, pool.length() - POOL_SUFFIX.length()))
        : Optional.empty();
  }

  /** The DeviceClass that selects shares of one model, such as {@code h200.gpu.partita.dev}. */
  public static String classOfModel(String model) {
    return model + "." + NAME;
  }

  /**
   * The DeviceClass that selects shares of opaque cards of one model: {@code instinct-mi300x.opaque.gpu.partita.dev}.
   */
  public static String classOfOpaqueModel(String model) {
    return model + "." + OPAQUE_CLASS;
  }

  /** Whether that is the name of a DeviceClass of opaque cards. */
  public static boolean isOpaqueClass(String deviceClass) {
    return deviceClass.equals(OPAQUE_CLASS) || deviceClass.endsWith("." + OPAQUE_CLASS);
  }

  /**
   * The short model name of a product: lower case, without the vendor and with everything that a DNS label may not hold
   * turned into dashes, cut to 40 characters. {@code "NVIDIA H200"} gives {@code h200}, {@code "NVIDIA A100-SXM4-80GB"}
   * gives {@code a100-sxm4-80gb}; a name with nothing usable gives {@code gpu}. Never {@code whole}, {@code mig} or
   * {@code opaque}, which are classes of their own.
   */
  public static String modelOf(String productName) {
    String name = productName.toLowerCase(java.util.Locale.ROOT);
    for (String noise : new String[]{"nvidia ", "geforce ", "tesla ", "quadro "}) {
      name = name.replace(noise, "");
    }
    name = trimDashes(NOT_A_LABEL.matcher(name).replaceAll("-"));
    if (name.length() > 40) {
      name = trimDashes(name.substring(0, 40));
    }
    if (name.isEmpty()) {
      return "gpu";
    }
    return List.of("whole", "mig", "opaque").contains(name) ? "gpu-" + name : name;
  }

  private static String trimDashes(String name) {
    int start = 0;
    int end = name.length();
    while (start < end && name.charAt(start) == '-') {
      start++;
    }
    while (end > start && name.charAt(end - 1) == '-') {
      end--;
    }
    return name.substring(start, end);
  }
}
