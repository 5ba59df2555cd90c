package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.convert.LabelsOfOthers;
import dev.partita.admission.dialect.Dialect;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What an object still asks of cards by names that are known, or look as if, and that nothing here converts: whoever
 * converts a file must hear of it. Names only: what they mean is for a {@link Dialect}.
 */
final class UnreadRequests {
  private static final String OTHER_VENDOR = "is of another vendor's devices, and Partita serves NVIDIA's cards";
  private static final String NVIDIA = "NVIDIA";
  private static final String TENSOR_FUSION_VENDOR = "tensor-fusion.ai/vendor";
  private static final String TENSOR_FUSION = "is Tensor Fusion's: ask for memory and cores in a claim";

  /**
   * Resources by what their names match, and why they are not converted; the first that matches counts. Names are of
   * any length and may have several lines: after what is searched for, anything must match, so that one search is
   * enough.
   */
  private record Reason(Pattern names, String reason) {
    Reason(String names, String reason) {
      this(Pattern.compile(names, Pattern.DOTALL), reason);
    }
  }

  private static final Reason LIKE_GPUS =
      new Reason("(?!deviceclass[.]resource[.]kubernetes[.]io/).[^/]*+/.*([gG][pP][uU]|vcuda).*",
          "looks like a way to ask for GPUs, and no dialect that is known here has it");

  private static final List<Reason> RESOURCES =
      List.of(
          new Reason(
              "(amd|hygon|dcu|cambricon|metax-tech|mthreads|enflame|birentech|kunlunxin|vastaitech|habana|tenstorrent|rebellions)[.](com|ai)/.*"
                  + "|gpu[.]intel[.]com/.*|iluvatar[.]ai/.*|huawei[.]com/(Ascend|npu).*|aws[.]amazon[.]com/neuron.*|google[.]com/tpu.*"
                  + "|(beta[.])?furiosa[.]ai/.*|qualcomm[.]com/qaic.*|aliyun[.]com/ppu.*",
              OTHER_VENDOR),
          new Reason("deviceclass[.]resource[.]kubernetes[.]io/(?!(.+[.])?gpu[.]partita[.]dev$).*gpu.*",
              "is a class of another DRA driver; deviceclass.resource.kubernetes.io/whole.gpu.partita.dev is a card of ours"),
          new Reason("nvidia[.]com/([A-Z]{1,2}[0-9]{2,3}.*|(GRID|NVIDIA)_.*)", ForeignClass.TO_MACHINE),
          new Reason("mig[.]das[.]com/.*",
              "is a MIG instance of the DAS operator (InstaSlice), which puts it in place of"
                  + " nvidia.com/mig-<profile>: ask by that"),
          new Reason("tensor-fusion[.]ai/.*", TENSOR_FUSION),
          new Reason("nvshare[.]com/gpu", "is nvshare's, whose containers have all of a card's memory in turn: ask for"
              + " sharing TimeSlicing in a claim"),
          new Reason("alpha[.]kubernetes[.]io/nvidia-gpu",
              "is what nvidia.com/gpu was before there were device plugins, and no kubelet has it any more: write that"),
          LIKE_GPUS);

  private static final List<Reason> ANNOTATIONS =
      List.of(
          new Reason("gpu-fraction|gpu-memory", "is KAI's or Run:ai's in a pod with their schedulerName (kai-scheduler,"
              + " runai-scheduler) or a queue's label (kai.scheduler/queue, runai/queue), and this one has neither"),
          new Reason("gpu-(fraction|memory)[.-]limit",
              "is not converted: `memoryLimit` in a GpuShareConfig says how"
                  + " far a share may grow"),
          new Reason("egpuc[.]elasticgpu[.]io/.*",
              "is a claim of Elastic GPU's: ask for memory and cores in a claim of Partita's"),
          new Reason("tensor-fusion[.]ai/.*(vram|tflops|gpu|compute|workload-profile).*", TENSOR_FUSION));

  /** Annotations that ask where the pod in an object is known. */
  private static final Pattern FRACTIONS =
      Pattern.compile("gpu-fraction|gpu-memory|(nvidia[.]com|kai[.]scheduler)/container[.].+");

  /** KubeShare asks by labels of its own objects and of pods (its README.md, pod.go). */
  private static final List<Reason> LABELS = List.of(
      new Reason("sharedgpu/gpu_request",
          "is KubeShare's part of a card's time, and of its memory where gpu_mem does not"
              + " say how much: ask for cores, 50 for 0.5, and for memory in a claim, and for so many whole cards where it is"
              + " above 1"),
      new Reason("sharedgpu/gpu_limit", "is KubeShare's: coreLimit in a GpuShareConfig is Soft for a limit of 1.0, and"
          + " Hard for one that is gpu_request; one in between has no equal"),
      new Reason("sharedgpu/gpu_mem", "is KubeShare's, in bytes: ask for so much memory in a claim"));

  private static final Map<String, List<Reason>> BY_FIELD =
      Map.of("limits", RESOURCES, "requests", RESOURCES, "annotations", ANNOTATIONS, "labels", LABELS);

  /** What an ElasticQuota has of resources: Koordinator's, nos' and that of the scheduler plugins. */
  private static final Set<String> LEAST_AND_MOST = Set.of("min", "max");

  /** What a LimitRange has of resources. */
  private static final Set<String> RANGES = Set.of("default", "defaultRequest", "min", "max", "maxLimitRequestRatio");

  private static final String RANGE = "is of containers that ask by resources: take it out, since a default asks for a"
      + " card in every container";

  private static final String NO_QUOTA =
      "counts nothing of pods that ask by claims; make a GpuQuota of it (docs/how-to/set-quotas.md)";

  /** Fields that count resources, of a ResourceQuota and of Volcano's queues and groups of pods, and what they do. */
  static final Map<String, String> COUNTS =
      Map.of("hard", NO_QUOTA, "capability", NO_QUOTA, "deserved", NO_QUOTA, "guarantee", NO_QUOTA, "minResources",
          "is waited for by Volcano before the group begins, and nodes of Partita do not have it: take it out");

  private static final String NO_QUOTA_OF_CLASS = "counts nothing of claims of other classes: name the class that they"
      + " ask for now, or make a GpuQuota of it (docs/how-to/set-quotas.md)";

  /** Of a name that may be one of Kueue's for what claims ask for, which its queues count as well. */
  private static final String NO_QUOTA_OF_UNKNOWN =
      "looks like a resource of GPUs, and no dialect that is known here has it: unless Kueue's deviceClassMappings have"
          + " the name, it counts nothing of pods that ask by claims (docs/how-to/use-kueue.md)";

  /** Of a ProvisioningRequestConfig (kueue, site/content/en/docs/concepts/admission_check). */
  private static final String NO_NODES =
      "is in no pod that asks by claims, and Kueue has nodes added only for Jobs with"
          + " one of these resources: add one that they ask for, or leave the list out";

  /** A DeviceClass in what such a field counts: a ResourceQuota's ways to write it, and Volcano's. */
  private static final Pattern COUNTED_CLASS =
      Pattern.compile("(?<class>.+)[.]deviceclass[.]resource[.]k8s[.]io/devices"
          + "|(?:requests[.]deviceclass[.]resource[.]kubernetes[.]io|(?:.+[.])?deviceclass)/(?<named>.+)",
          Pattern.DOTALL);

  /** Objects of other systems that are no pods, by apiVersion and kind. */
  private static final List<Reason> OBJECTS =
      List.of(
          new Reason("run[.]ai/.*", "is Run:ai's, of which its controller makes pods: convert those"),
          new Reason("gpu[.]resource[.]nvidia[.]com/.*",
              "is of the first version of NVIDIA's DRA driver: say what is meant in a claim"),
          new Reason("resource[.]nvidia[.]com/.*/(Gpu|MigDevice|VfioDevice)Config",
              "is a part of a claim, and nothing reads it as an object: convert the claim that is to have it"),
          new Reason("resource[.]nvidia[.]com/.*/ComputeDomain.*",
              "is NVIDIA's, for memory between nodes: leave it to NVIDIA's driver, which may run beside"
                  + " Partita for it"),
          new Reason("tensor-fusion[.]ai/.*/(WorkloadProfile|TensorFusionWorkload)", TENSOR_FUSION),
          new Reason("tensor-fusion[.]ai/.*/GPUResourceQuota", NO_QUOTA));

  /** Operators' own fields for a number of cards, wherever they are. */
  private static final Set<String> NUMBERS =
      Set.of("requestGPU", "gpuCount", "numGPUs", "numGpus", "spark.driver.resource.gpu.amount",
          "spark.executor.resource.gpu.amount");

  /** The same among amounts of resources. */
  private static final Set<String> AMONG_RESOURCES = Set.of("gpu", "gpus");

  private static final Set<String> RESOURCES_OF = Set.of("resources", "limits", "requests");

  /** What is in these asks for nothing, such as the annotation of what was last applied. */
  static final Set<String> LABELLING =
      Set.of("annotations", "labels", "matchLabels", "nodeSelector");

  /** Where KubeVirt's machines have cards. */
  private static final Pattern OF_MACHINE = Pattern.compile(".*[.](gpus|hostDevices)\\[[0-9]+]");

  private static final String HELD_TO_NOTHING =
      " without a claim, and Partita holds it to nothing: ask for them in limits"
          + " or a claim, unless it is there to watch cards";

  /** By which a runtime gives devices to a pod, whatever it asks for (cncf-tags/container-device-interface). */
  private static final Pattern CDI = Pattern.compile("(nvidia[.])?cdi[.]k8s[.]io/.+");

  /** The file of a card, on its node and in containers. */
  private static final Pattern DEVICE_NODE = Pattern.compile("/dev/nvidia[0-9]+");

  /** Where programs look for their node's MPS daemon if they are not told otherwise. */
  private static final Pattern MPS_SOCKETS = Pattern.compile("/tmp/nvidia-mps/?");

  /** By which NVIDIA's runtime gives cards to whoever sets it, and its values that give none. */
  private static final String VISIBLE = "NVIDIA_VISIBLE_DEVICES";
  private static final Set<String> NONE_VISIBLE = Set.of("", "void", "none");

  private static final String NODES_LIMITED = "Karpenter counts what its provider says of nodes, and not what pods ask"
      + " for; a GpuQuota limits claims (docs/how-to/set-quotas.md)";

  /**
   * Kubeflow's trainer writes a container's resources anew from what a TrainJob says of them, without claims, and a
   * runtimePatch has no field for these (kubeflow/trainer, jobset/builder.go, trainjob_types.go; its KEP-2782 adds
   * one).
   */
  private static final String OF_RUNTIME = "a TrainJob has no field for claims: ask in the pods of the runtime that"
      + " runtimeRef names, and leave resourcesPerNode out, which replaces their claims (say numProcPerNode then); or let"
      + " Partita's webhook convert the pods (docs/how-to/convert-pods.md)";

  private static final String VALUES =
      "; where these are values of a Helm chart, convert what `helm template` writes";

  private final List<FieldError> found = new ArrayList<>();
  private final String kind;
  private final String unknownPods;
  private final boolean isQueueOfKai;
  private final Set<String> pods;

  private UnreadRequests(JsonNode object, Set<String> pods) {
    this.kind = object.path("kind").asText("an object without a kind");
    String apiVersion = object.path("apiVersion").asText("no apiVersion");
    this.unknownPods = unknownPods(object, kind, apiVersion);
    this.isQueueOfKai = kind.equals("Queue") && apiVersion.startsWith("scheduling.run.ai/");
    this.pods = pods;
  }

  /** What is said of pods in the object, or of what looks like pods, where none are known. */
  private static String unknownPods(JsonNode object, String kind, String apiVersion) {
    if (apiVersion.startsWith("karpenter.sh/")) {
      return NODES_LIMITED;
    }
    if (apiVersion.startsWith("trainer.kubeflow.org/") && kind.equals("TrainJob")) {
      return OF_RUNTIME;
    }
    return PodPath.onlyPlace(object).map(place -> "the pod of a " + kind + " is its " + place)
        .orElseGet(() -> "pods in " + kind + PodPath.versionOf(object)
            .map(known -> " of " + apiVersion + " are not known here; make it one of " + known)
            .orElse(" are not known here" + (object.has("kind") ? "" : VALUES)));
  }

  /**
   * Looks through an object as it comes out.
   *
   * @param pods paths of the pods in it that were looked at, so that what a dialect has in them is nothing; one that is
   *        empty stands for all of the object
   */
  static List<FieldError> in(JsonNode object, Set<String> pods) {
    UnreadRequests unread = new UnreadRequests(object, pods);
    String typed = object.path("apiVersion").asText() + "/" + object.path("kind").asText();
    OBJECTS.stream().filter(each -> each.names().matcher(typed).matches())
        .forEach(each -> unread.found.add(new FieldError("spec", each.reason())));
    unread.ownClass(object);
    unread.walk(object, "", false);
    return unread.found.stream().distinct().toList();
  }

  /** The drivers' own classes come and go with these; who asks by a resource of one is converted. */
  private void ownClass(JsonNode object) {
    if (!object.path("apiVersion").asText().startsWith("resource.k8s.io/") || !kind.equals("DeviceClass")) {
      return;
    }
    Optional<ForeignClass> known = ForeignClass.of(object.path("metadata").path("name").asText());
    String resource = object.path("spec").path("extendedResourceName").asText();
    if (known.isEmpty()) {
      ForeignClass.driverIn(object.path("spec").toString()).ifPresent(driver -> found.add(new FieldError("spec",
          "is a class of your own, of devices of " + driver + ": make one of devices of " + Driver.NAME
              + ", and name that in the claims (docs/reference/devices.md)")));
    } else if (Dialect.of(resource).isPresent()) {
      found.add(new FieldError("spec.extendedResourceName",
          "gives pods that ask for " + resource + " devices of " + known.get().driver()
              + ", and such pods are converted to ask for Partita's: take it out"));
    }
  }

  private void walk(JsonNode node, String path, boolean inPod) {
    boolean isKnown = inPod || pods.contains(path);
    if (node.isTextual()) {
      RequestsInText.in(node.asText()).forEach(why -> found.add(new FieldError(path, why)));
    }
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      walk(node.path(i), path + "[" + i + "]", isKnown);
    }
    for (var field : node.properties()) {
      String where = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
      JsonNode value = field.getValue();
      if (value.isObject() && BY_FIELD.containsKey(field.getKey())) {
        boolean twice = field.getKey().equals("requests");
        boolean isOfKnown = isKnown || (!twice && pods.contains(path + PodPath.BELOW_CLIQUE));
        value.fieldNames().forEachRemaining(name -> {
          if (!(twice && node.path("limits").has(name)) && !isNone(value.path(name))) {
            reason(field.getKey(), name, isOfKnown)
                .map(why -> why.equals(TENSOR_FUSION) && isOfOtherVendor(value) ? OTHER_VENDOR : why)
                .ifPresent(why -> found.add(new FieldError(where + "[" + name + "]", why)));
          }
        });
      }
      String counted = COUNTS.get(field.getKey());
      if (value.isObject() && counted != null) {
        value.fieldNames().forEachRemaining(name -> {
          if (Dialect.of(name.replaceFirst("^(requests|limits)[.]", "")).isPresent()) {
            found.add(new FieldError(where + "[" + name + "]", counted));
          }
          if (isCountedClass(name, each -> ForeignClass.of(each).isPresent())) {
            found.add(new FieldError(where + "[" + name + "]", NO_QUOTA_OF_CLASS));
          }
        });
      }
      if (kind.endsWith("ElasticQuota") && LEAST_AND_MOST.contains(field.getKey())) {
        value.fieldNames().forEachRemaining(name -> {
          if (Dialect.of(name).isPresent() || name.contains("/gpu")) {
            found.add(new FieldError(where + "[" + name + "]", NO_QUOTA));
          }
        });
      }
      if (kind.equals("LimitRange") && RANGES.contains(field.getKey())) {
        value.fieldNames().forEachRemaining(name -> Dialect.of(name)
            .ifPresent(_ -> found.add(new FieldError(where + "[" + name + "]", RANGE))));
      }
      String named = value.path("name").asText();
      if (value.has("quantity") && !isNone(value.path("quantity")) && Dialect.of(named).isPresent()) {
        unknown(false).ifPresent(why -> found.add(new FieldError(where + "[" + named + "]", why))); // Spark's operator
      }
      kueue(field.getKey(), value, where);
      if (field.getKey().equals("nodeLabels")) { // of a ResourceFlavor of Kueue's
        value.properties().forEach(label -> LabelsOfOthers.note(label.getKey(), label.getValue().asText())
            .ifPresent(why -> found.add(new FieldError(where + "[" + label.getKey() + "]", why))));
      }
      if (field.getKey().equals("gpu") && isQueueOfKai && limits(value)) {
        found.add(new FieldError(path + "[gpu]", NO_QUOTA));
      }
      if (field.getKey().equals("hostPath")) {
        hostPath(value.path("path").asText(), where + ".path");
      }
      if (field.getKey().equals("annotations")) {
        value.properties().stream().filter(each -> CDI.matcher(each.getKey()).matches()
            && each.getValue().asText().contains("nvidia.com/"))
            .forEach(each -> found.add(
                new FieldError(where + "[" + each.getKey() + "]",
                    "gives the pod cards of its node" + HELD_TO_NOTHING)));
        value.properties().stream().filter(each -> ForeignClass.of(each.getValue().asText()).isPresent())
            .forEach(each -> found.add(new FieldError(where + "[" + each.getKey() + "]", each.getValue().asText()
                + " is a class of another DRA driver, of which an operator makes claims: name one of ours, "
                + Driver.WHOLE_CLASS + " for a card")));
      }
      if (field.getKey().equals("deviceClassName") && ForeignClass.of(value.asText()).isPresent()) {
        found.add(new FieldError(where,
            value.asText() + " is not converted: claims in " + kind + " are not known here"));
      }
      if (field.getKey().equals("deviceName") && value.asText().startsWith("nvidia.com/")
          && OF_MACHINE.matcher(path).matches()) {
        found.add(new FieldError(where, value.asText() + " " + ForeignClass.TO_MACHINE));
      }
      if (field.getKey().equals("env") && !asks(node.path("resources"))) {
        visible(value, where);
      }
      number(path, field.getKey(), where, value)
          .ifPresent(name -> (isQueueOfKai ? Optional.of(NO_QUOTA) : unknown(isKnown))
              .ifPresent(why -> found.add(new FieldError(name, why))));
      if (!LABELLING.contains(field.getKey())) {
        walk(value, where, isKnown);
      }
    }
  }

  private void hostPath(String file, String where) {
    if (DEVICE_NODE.matcher(file).matches()) {
      found.add(new FieldError(where, "gives the pod a card of its node" + HELD_TO_NOTHING));
    }
    if (MPS_SOCKETS.matcher(file).matches()) {
      found.add(new FieldError(where, "leads to an MPS daemon of the node, which knows of no claims: leave it out,"
          + " unless this is that daemon, and ask for sharing MPS in a claim"));
    }
  }

  /** What Kueue counts, and adds nodes for, by its objects and its configuration. */
  private void kueue(String field, JsonNode value, String where) {
    switch (field) {
      case "coveredResources" -> {
        ofKueue(value, where, NO_QUOTA);
        value.forEach(name -> reason("limits", name.asText(), true).filter(LIKE_GPUS.reason()::equals)
            .ifPresent(_ -> found.add(new FieldError(where + "[" + name.asText() + "]", NO_QUOTA_OF_UNKNOWN))));
      }
      case "managedResources" -> ofKueue(value, where, NO_NODES);
      case "transformations" -> {
        for (int i = 0; i < value.size(); i++) {
          String input = value.path(i).path("input").asText();
          if (Dialect.of(input).isPresent()) {
            found.add(new FieldError(where + "[" + i + "].input", input + " " + RequestsInText.UNCOUNTED));
          }
        }
      }
      case "deviceClassNames" -> value.forEach(name -> ForeignClass.of(name.asText())
          .ifPresent(_ -> found.add(new FieldError(where + "[" + name.asText() + "]", NO_QUOTA_OF_CLASS))));
      default -> {}
    }
  }

  private void ofKueue(JsonNode resources, String where, String why) {
    resources.forEach(name -> Dialect.of(name.asText())
        .ifPresent(_ -> found.add(new FieldError(where + "[" + name.asText() + "]", why))));
  }

  /**
   * Where a field that is a number of cards is, if it is one and not 0.
   *
   * @param path of the object that has the field
   * @param where the field is
   */
  private static Optional<String> number(String path, String field, String where, JsonNode value) {
    if (!value.isValueNode() || value.isNull() || isNone(value)) {
      return Optional.empty();
    }
    if (NUMBERS.contains(field)) {
      return Optional.of(where);
    }
    return AMONG_RESOURCES.contains(field) && RESOURCES_OF.contains(path.substring(path.lastIndexOf('.') + 1))
        ? Optional.of(path + "[" + field + "]")
        : Optional.empty();
  }

  /** Whether a container has a claim, whose CDI device sets the variable anew, or is told of what it asks otherwise. */
  private static boolean asks(JsonNode resources) {
    return !resources.path("claims").isEmpty() || Stream.of("limits", "requests")
        .anyMatch(amounts -> resources.path(amounts).properties().stream()
            .anyMatch(amount -> !isNone(amount.getValue()) && Dialect.of(amount.getKey()).isPresent()));
  }

  private void visible(JsonNode variables, String where) {
    variables.forEach(variable -> {
      if (variable.path("name").asText().equals(VISIBLE) && variable.has("value")
          && !NONE_VISIBLE.contains(variable.path("value").asText())) {
        found.add(new FieldError(where + "[" + VISIBLE + "]",
            "gives the container cards of its node without a claim, where NVIDIA's runtime runs it, and Partita holds it"
                + " to nothing: ask for them in limits or a claim, unless it is there to watch cards"));
      }
    });
  }

  private Optional<String> unknown(boolean isKnown) {
    return isKnown ? Optional.empty() : Optional.of("is not converted: " + unknownPods);
  }

  /** Whether annotations ask Tensor Fusion for cards of one vendor, who is not NVIDIA. */
  private static boolean isOfOtherVendor(JsonNode annotations) {
    return !annotations.path(TENSOR_FUSION_VENDOR).asText(NVIDIA).equalsIgnoreCase(NVIDIA);
  }

  /** Whether what a field counts is a DeviceClass, and such a one. */
  static boolean isCountedClass(String name, Predicate<String> such) {
    Matcher counted = COUNTED_CLASS.matcher(name);
    return counted.matches()
        && Stream.of("class", "named").map(counted::group).anyMatch(each -> each != null && such.test(each));
  }

  /** Whether a queue of KAI's has so many GPUs at least or at most; -1 is no limit. */
  private static boolean limits(JsonNode gpus) {
    return gpus.path("quota").asDouble() > 0 || gpus.path("limit").asDouble(-1) >= 0;
  }

  static boolean isNone(JsonNode amount) {
    return Set.of("0", "").contains(amount.asText("x"));
  }

  private Optional<String> reason(String field, String name, boolean isKnown) {
    boolean resource = !Set.of("annotations", "labels").contains(field);
    if (resource && Dialect.of(name).isPresent()) {
      return unknown(isKnown);
    }
    if (field.equals("annotations") && FRACTIONS.matcher(name).matches() && !isKnown) {
      return unknown(false);
    }
    return Stream.ofNullable(BY_FIELD.get(field)).flatMap(List::stream)
        .filter(reason -> reason.names().matcher(name).matches()).map(Reason::reason).findFirst();
  }
}
