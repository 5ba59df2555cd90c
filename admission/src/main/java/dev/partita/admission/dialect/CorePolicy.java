package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** How a system's pods say how their cores are enforced. */
sealed interface CorePolicy {
  /**
   * HAMi's, by an environment variable of the container. Its library reads the words in capitals, too
   * (Project-HAMi/HAMi-core, src/multiprocess/multiprocess_memory_limit.c).
   */
  CorePolicy HAMI = new OfVariable("GPU_CORE_UTILIZATION_POLICY",
      Map.of("default", Optional.empty(), "force", Optional.of("Hard"), "FORCE", Optional.of("Hard"), "disable",
          Optional.of("None"), "DISABLE", Optional.of("None")),
      "default, force or disable");

  /** vgpu-manager's, by an annotation of the pod. What a node's says is not known here. */
  CorePolicy VGPU_MANAGER = new OfAnnotation("nvidia.com/vgpu-compute-policy",
      Map.of("fixed", Optional.of("Hard"), "balance", Optional.of("Soft"), "none", Optional.of("None")),
      "fixed, balance or none");

  /** The {@code coreLimit} that says the same; empty where nothing is said, or the default is asked for. */
  Optional<String> coreLimit(ResourceRequests asked, PodContext pod, List<FieldError> problems);

  /**
   * By an environment variable.
   *
   * @param meanings the {@code coreLimit} by the variable's value; empty for the default
   * @param known the values, for people
   */
  record OfVariable(String name, Map<String, Optional<String>> meanings, String known) implements CorePolicy {
    @Override
    public Optional<String> coreLimit(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
      JsonNode variables = asked.container().path("env");
      for (int i = 0; i < variables.size(); i++) {
        if (variables.path(i).path("name").asText().equals(name)) {
          String value = variables.path(i).path("value").asText("");
          if (value.isEmpty() && !variables.path(i).has("valueFrom")) {
            return Optional.empty();
          }
          if (meanings.containsKey(value)) {
            return meanings.getOrDefault(value, Optional.empty());
          }
          problems.add(new FieldError(asked.path() + ".env[" + i + "]",
              name + " must be " + known + ", not " + PodContext.quoted(value)));
        }
      }
      return Optional.empty();
    }
  }

  /**
   * By an annotation.
   *
   * @param meanings the {@code coreLimit} by the annotation's value, in lower case
   * @param known the values, for people
   */
  record OfAnnotation(String name, Map<String, Optional<String>> meanings, String known) implements CorePolicy {
    @Override
    public Optional<String> coreLimit(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
      return pod.once(this, found -> read(pod, found), problems);
    }

    private Optional<String> read(PodContext pod, List<FieldError> problems) {
      Optional<String> value = pod.annotation(name);
      Optional<String> word = value.map(text -> text.toLowerCase(Locale.ROOT));
      if (word.isPresent() && !meanings.containsKey(word.get())) {
        problems.add(
            new FieldError(pod.annotationPath(name), "must be " + known + ", not " + PodContext.quoted(value.get())));
      }
      return word.flatMap(set -> meanings.getOrDefault(set, Optional.empty()));
    }
  }
}
