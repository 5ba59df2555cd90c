package dev.partita.cli.convert;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where an object holds a pod, or a pod's template. Grove's PodCliqueSet has a pod's spec alone ({@code podSpec}), and
 * the pod's annotations and labels two levels above (ai-dynamo/grove, podcliqueset.go).
 *
 * @param name as it is shown, for example {@code spec.tasks[0].template}; empty for a Pod
 * @param pointer the same by RFC 6901
 */
record PodPath(String name, JsonPointer pointer) {
  private static final String ALL = "*";

  /**
   * Where an object holds its pods, and what must be known of its kind to convert them. For example, a RayCluster has a
   * head and groups of workers.
   *
   * @param paths where
   * @param isBuiltIn whether it is of Kubernetes' own kinds, whose pods can name claims
   * @param isRay whether KubeRay starts Ray in its pods
   */
  record Places(List<PodPath> paths, boolean isBuiltIn, boolean isRay) {}

  /** Of Kubernetes' own kinds by apiVersion, of others by group: their versions come and go. */
  private static final Map<String, List<String>> TEMPLATES = new HashMap<>();

  private static final String RAY = "ray.io/";

  /** A field with a pod's spec alone, and where it is in what has the pod's annotations and labels. */
  private static final String SPEC_ALONE = "podSpec";
  static final String BELOW_CLIQUE = ".spec." + SPEC_ALONE;

  /** Versions in which Kubernetes' own kinds were once, or are written by mistake. */
  private static final Pattern BUILT_IN = Pattern.compile("|v1|extensions/.*|(apps|batch)/.*");

  static {
    TEMPLATES.put("v1/Pod", List.of(""));
    TEMPLATES.put("v1/PodTemplate", List.of("template"));
    for (String kind : List.of("v1/ReplicationController", "apps/v1/Deployment", "apps/v1/StatefulSet",
        "apps/v1/DaemonSet", "apps/v1/ReplicaSet", "batch/v1/Job", "argoproj.io/Rollout", "apps.kruise.io/CloneSet",
        "apps.kruise.io/StatefulSet", "apps.kruise.io/DaemonSet", "apps.kruise.io/BroadcastJob",
        "kubeflow.org/Notebook", "apps.openshift.io/DeploymentConfig")) {
      TEMPLATES.put(kind, List.of("spec.template"));
    }
    TEMPLATES.put("batch/v1/CronJob", List.of("spec.jobTemplate.spec.template"));
    Map.of("PyTorch", "pytorch", "TF", "tf", "MPI", "mpi", "XGBoost", "xgb", "Paddle", "paddle", "JAX", "jax")
        .forEach((kind, field) -> TEMPLATES.put("kubeflow.org/" + kind + "Job",
            List.of("spec." + field + "ReplicaSpecs.*.template")));
    TEMPLATES.put("jobset.x-k8s.io/JobSet", List.of("spec.replicatedJobs.*.template.spec.template"));
    for (String kind : List.of("TrainingRuntime", "ClusterTrainingRuntime")) {
      TEMPLATES.put("trainer.kubeflow.org/" + kind,
          List.of("spec.template.spec.replicatedJobs.*.template.spec.template"));
    }
    TEMPLATES.put("leaderworkerset.x-k8s.io/LeaderWorkerSet",
        List.of("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"));
    TEMPLATES.put("batch.volcano.sh/Job", List.of("spec.tasks.*.template"));
    TEMPLATES.put("batch.volcano.sh/CronJob", List.of("spec.jobTemplate.spec.tasks.*.template"));
    TEMPLATES.put("training.volcano.sh/HyperJob", List.of("spec.replicatedJobs.*.templateSpec.tasks.*.template"));
    TEMPLATES.put("grove.io/PodCliqueSet", List.of("spec.template.cliques.*" + BELOW_CLIQUE));
    TEMPLATES.put(RAY + "RayCluster", rayCluster("spec"));
    TEMPLATES.put(RAY + "RayService", rayCluster("spec.rayClusterConfig"));
    TEMPLATES.put(RAY + "RayJob", rayJob("spec"));
    TEMPLATES.put(RAY + "RayCronJob", rayJob("spec.jobTemplate"));
  }

  private static List<String> rayJob(String spec) {
    List<String> pods = new ArrayList<>(rayCluster(spec + ".rayClusterSpec"));
    pods.add(spec + ".submitterPodTemplate");
    return pods;
  }

  private static List<String> rayCluster(String spec) {
    return List.of(spec + ".headGroupSpec.template", spec + ".workerGroupSpecs.*.template");
  }

  /** Where the object holds pods; nothing if its kind is not known. */
  static Optional<Places> in(JsonNode object) {
    String version = object.path("apiVersion").asText();
    String kind = object.path("kind").asText();
    List<String> builtIn = TEMPLATES.get(version + "/" + kind);
    List<String> templates =
        builtIn == null ? TEMPLATES.get(version.replaceFirst("/.*", "") + "/" + kind) : builtIn;
    if (templates == null) {
      return Optional.empty();
    }
    List<PodPath> found = new ArrayList<>();
    for (String template : templates) {
      find(object, new PodPath("", JsonPointer.empty()),
          template.isEmpty() ? List.of() : List.of(template.split("[.]")),
          found);
    }
    return Optional.of(new Places(found, builtIn != null, version.startsWith(RAY)));
  }

  /** Where a kind has its pods, whose objects have them nowhere else; nothing of other kinds. */
  static Optional<String> onlyPlace(JsonNode object) {
    String version = object.path("apiVersion").asText();
    String kind = "/" + object.path("kind").asText();
    List<String> builtIn = TEMPLATES.get(version + kind);
    return Optional.ofNullable(builtIn == null ? TEMPLATES.get(version.replaceFirst("/.*", "") + kind) : builtIn)
        .map(List::getFirst).filter(place -> builtIn != null || place.endsWith(BELOW_CLIQUE));
  }

  /** The version in which a built-in kind is known, of an object of another one or of none. */
  static Optional<String> versionOf(JsonNode object) {
    String kind = object.path("kind").asText();
    return BUILT_IN.matcher(object.path("apiVersion").asText()).matches()
        ? Stream.of("v1", "apps/v1", "batch/v1").filter(version -> TEMPLATES.containsKey(version + "/" + kind))
            .findFirst()
        : Optional.empty();
  }

  private static void find(JsonNode node, PodPath path, List<String> left, List<PodPath> found) {
    if (left.isEmpty()) {
      if (node.isObject() && (!path.isSpecAlone() || node.path("containers").isArray())) {
        found.add(path);
      }
      return;
    }
    List<String> further = left.subList(1, left.size());
    String field = left.getFirst();
    if (!field.equals(ALL)) {
      find(node.path(field), path.to(field), further, found);
    } else if (node.isArray()) {
      for (int i = 0; i < node.size(); i++) {
        find(node.path(i), new PodPath(path.name + "[" + i + "]", path.pointer.appendIndex(i)), further, found);
      }
    } else {
      node.properties().forEach(each -> find(each.getValue(), path.to(each.getKey()), further, found));
    }
  }

  private PodPath to(String field) {
    return new PodPath(name.isEmpty() ? field : name + "." + field, pointer.appendProperty(field));
  }

  private boolean isSpecAlone() {
    return name.endsWith(BELOW_CLIQUE);
  }

  private JsonPointer clique() {
    return pointer.head().head();
  }

  /** The pod that the object holds there, with {@code metadata} and {@code spec}. */
  JsonNode of(JsonNode object) {
    if (!isSpecAlone()) {
      return object.at(pointer);
    }
    ObjectNode pod = JsonNodeFactory.instance.objectNode();
    for (String field : List.of("annotations", "labels")) {
      if (object.at(clique()).has(field)) {
        pod.withObjectProperty("metadata").set(field, object.at(clique()).path(field));
      }
    }
    return pod.set("spec", object.at(pointer));
  }

  /** Where a user finds in the object what is said of the pod there. */
  FieldError shown(FieldError ofPod) {
    if (!isSpecAlone()) {
      return ofPod;
    }
    return new FieldError(shown(ofPod.path()), shown(ofPod.problem()));
  }

  private String shown(String text) {
    String clique = name.substring(0, name.length() - BELOW_CLIQUE.length());
    return text.replace(name + ".spec.", name + ".").replace(name + ".metadata.", clique + ".");
  }

  /** Whether the object, or what holds the pod in it, says that there are several such pods. */
  boolean isOfSeveral(JsonNode object) {
    for (JsonPointer place = pointer; !place.matches(); place = place.head()) {
      JsonNode holder = object.at(place.head());
      if (holder.path("replicas").asInt() > 1 || holder.path("parallelism").asInt() > 1) {
        return true;
      }
    }
    return false;
  }

  /** The object with other pods in their places. */
  static JsonNode replacedIn(JsonNode object, Map<PodPath, ObjectNode> pods) {
    JsonNode changed = object.deepCopy();
    for (Map.Entry<PodPath, ObjectNode> each : pods.entrySet()) {
      JsonPointer place = each.getKey().pointer;
      if (place.matches()) {
        return each.getValue();
      }
      if (each.getKey().isSpecAlone()) {
        replaceClique((ObjectNode) changed.at(each.getKey().clique()), each.getValue());
        continue;
      }
      if (changed.at(place.head()) instanceof ArrayNode items) {
        items.set(place.last().getMatchingIndex(), each.getValue());
      } else {
        ((ObjectNode) changed.at(place.head())).set(place.last().getMatchingProperty(), each.getValue());
      }
    }
    return changed;
  }

  private static void replaceClique(ObjectNode clique, ObjectNode pod) {
    ((ObjectNode) clique.path("spec")).set(SPEC_ALONE, pod.path("spec"));
    JsonNode annotations = pod.path("metadata").path("annotations");
    if (annotations.isEmpty()) {
      clique.remove("annotations");
    } else {
      clique.set("annotations", annotations);
    }
  }
}
