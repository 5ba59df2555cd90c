package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Optional;

/** The environment variable by which HAMi's containers say how their cores are enforced. */
final class CoreUtilizationPolicy {
  private static final String NAME = "GPU_CORE_UTILIZATION_POLICY";

  private CoreUtilizationPolicy() {}

  /** The {@code coreLimit} that says the same; empty where the container says nothing or asks for the default. */
  static Optional<String> coreLimit(ResourceRequests asked, List<FieldError> problems) {
    JsonNode variables = asked.container().path("env");
    for (int i = 0; i < variables.size(); i++) {
      if (variables.path(i).path("name").asText().equals(NAME)) {
        String value = variables.path(i).path("value").asText("");
        switch (value) {
          case "default" -> {
            return Optional.empty();
          }
          case "force" -> {
            return Optional.of("Hard");
          }
          case "disable" -> {
            return Optional.of("None");
          }
          default -> problems.add(new FieldError(asked.path() + ".env[" + i + "]",
              NAME + " must be default, force or disable, not \"" + value + "\""));
        }
      }
    }
    return Optional.empty();
  }
}
