package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Labels by which other systems find the nodes that they serve, such as HAMi's {@code gpu=on}: their pods select nodes
 * by them as well, and find none where the labels go together with the system. The labels are those of the systems' own
 * manifests and documentation.
 */
public enum LabelsOfOthers {
  HAMI("HAMi", "gpu", "on"),
  GPU_SHARE("gpushare or cGPU", "gpushare|cgpu|ack[.]node[.]gpu[.]schedule", ".*"),
  VGPU_MANAGER("vgpu-manager", "vgpu-manager.*", ".*"),
  GPU_MANAGER("GPUManager", "nvidia-device-enable", ".*"),
  QGPU("qGPU", "qgpu-device-enable", ".*"),
  NVIDIA("NVIDIA's device plugin or DRA driver", "nvidia[.]com/gpu[.]deploy[.](device-plugin|dra-driver)", ".*");

  private final String system;
  private final Pattern names;
  private final Pattern values;

  LabelsOfOthers(String system, String names, String values) {
    this.system = system;
    this.names = Pattern.compile(names);
    this.values = Pattern.compile(values);
  }

  /** What to know of who selects nodes by a label; empty if it is none of these. */
  public static Optional<String> note(String name, String value) {
    return of(name, value).map(LabelsOfOthers::note);
  }

  /** What to know of the labels by which a pod selects its nodes: of the first of each system. */
  static List<FieldError> notes(JsonNode spec, String prefix) {
    List<FieldError> notes = new ArrayList<>();
    Set<LabelsOfOthers> said = new HashSet<>();
    for (NodeLabel label : NodeLabel.of(spec)) {
      of(label.name(), label.value()).filter(said::add)
          .ifPresent(theirs -> notes.add(new FieldError(prefix + label.path(), theirs.note())));
    }
    return notes;
  }

  private static Optional<LabelsOfOthers> of(String name, String value) {
    return Stream.of(values())
        .filter(each -> each.names.matcher(name).matches() && each.values.matcher(value).matches()).findFirst();
  }

  private String note() {
    return "is a label of nodes that " + system
        + " serves: without that system nodes may lose it, and the pod waits for"
        + " ever; select nodes by a label that stays";
  }
}
