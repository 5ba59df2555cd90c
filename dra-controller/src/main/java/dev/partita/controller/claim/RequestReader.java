package dev.partita.controller.claim;

import dev.partita.api.Amount;
import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.DeviceRequest.Access;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest.Toleration;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/** Reads one request, or one alternative of a request, and reports what is wrong with it. */
final class RequestReader {
  /** Beyond every card, and far from overflowing a sum. */
  private static final BigDecimal BEYOND = BigDecimal.valueOf(Long.MAX_VALUE / 4);

  private static final Set<String> CAPACITIES =
      Set.of(CapacityName.MEMORY, CapacityName.CORES, CapacityName.MULTIPROCESSORS);

  private final RequestPart part;
  private final DeviceClass deviceClass;
  private final List<DeviceClaimConfiguration> configs;
  private final Function<String, Optional<String>> compileError;
  private final List<String> problems;

  RequestReader(
      RequestPart part,
      DeviceClass deviceClass,
      List<DeviceClaimConfiguration> configs,
      Function<String, Optional<String>> compileError,
      List<String> problems) {
    this.part = part;
    this.deviceClass = deviceClass;
    this.configs = configs;
    this.compileError = compileError;
    this.problems = problems;
  }

  /** What is asked for; empty if a problem was reported. */
  Optional<DeviceRequest> read() {
    int before = problems.size();
    part.unknown().forEach(field -> problem(field, "is not supported"));
    Optional<Count> count = count();
    List<Selector> expressions = new ArrayList<>();
    read(expressions, "class " + part.className(), "DeviceClass " + part.className() + ": spec",
        ClaimReader.expressions(deviceClass.getSpec().getSelectors()));
    read(expressions, "request " + part.name(), part.path(), ClaimReader.expressions(part.selectors()));
    Map<String, Quantity> asked = part.amounts();
    asked.keySet().stream()
        .filter(name -> !CAPACITIES.contains(name))
        .sorted()
        .forEach(name -> problem("capacity.requests[" + name + "]",
            "is not a capacity of a GPU; known are memory and cores, and multiprocessors of MIG instances"));
    multiprocessors(asked).ifPresent(expressions::add);
    Decoded<GpuShareConfig> decoded = RequestRules.config(part, configs, deviceClass);
    GpuShareConfig config;
    switch (decoded) {
      case Decoded.Valid<GpuShareConfig>(GpuShareConfig valid) -> config = valid;
      case Decoded.Invalid<GpuShareConfig> invalid -> {
        problems.add("the GpuShareConfig of request " + part.name() + " is wrong: " + invalid.message());
        return Optional.empty();
      }
    }
    RequestRules.errors(part, configs, deviceClass, decoded) // admission may have been off
        .forEach(error -> problems.add(error.toString()));
    MemoryRequest memory = memory(asked, config);
    OptionalLong cores = amount(asked, CapacityName.CORES);
    List<Toleration> tolerations = tolerations();
    if (problems.size() > before) {
      return Optional.empty();
    }
    return count.map(
        number -> new DeviceRequest(
            part.name(), expressions, number,
            new CapacityRequest(memory, cores, config.oversubscribe(), config.sharing()), tolerations,
            config.placement(), part.adminAccess() ? Access.MONITOR : Access.OWN, Modes.INFERRED));
  }

  /** MIG instances are not divided: like a selector, an amount says which of them will do. */
  private Optional<Selector> multiprocessors(Map<String, Quantity> asked) {
    OptionalLong least = amount(asked, CapacityName.MULTIPROCESSORS);
    String capacities = "device.capacity[\"" + Driver.NAME + "\"]";
    return least.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Selector(
                "request " + part.name(),
                "\"%1$s\" in %2$s && !%2$s.%1$s.isLessThan(quantity(\"%3$d\"))"
                    .formatted(CapacityName.MULTIPROCESSORS, capacities, least.getAsLong())));
  }

  /** An amount, or a part of each card; an amount in a request stands for itself whatever its class says. */
  private MemoryRequest memory(Map<String, Quantity> asked, GpuShareConfig config) {
    OptionalLong bytes = amount(asked, CapacityName.MEMORY);
    if (bytes.isPresent()) {
      return MemoryRequest.of(bytes);
    }
    return config.memoryPercent().isPresent()
        ? new MemoryRequest.Percent(config.memoryPercent().getAsInt())
        : new MemoryRequest.Unsaid();
  }

  private Optional<Count> count() {
    String mode = part.mode().filter(m -> !m.isEmpty()).orElse("ExactCount");
    return switch (mode) {
      case "ExactCount" -> {
        long devices = part.count().orElse(1L);
        if (devices < 1 || devices > Integer.MAX_VALUE) {
          problem("count", "must be from 1 to " + ClaimReader.MAX_RESULTS + ", not " + devices);
          yield Optional.empty();
        }
        yield Optional.of(new Count.Exactly((int) devices));
      }
      case "All" -> Optional.of(new Count.All());
      default -> {
        problem("allocationMode", mode + " is not supported; known are ExactCount and All");
        yield Optional.empty();
      }
    };
  }

  private void read(List<Selector> into, String origin, String path, List<String> expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      String expression = expressions.get(i);
      String where = path + ".selectors[" + i + "]";
      if (expression.isEmpty()) {
        problems.add(where + ": only cel is supported");
      } else {
        compileError.apply(expression).ifPresent(error -> problems.add(where + ".cel.expression: " + error));
        into.add(new Selector(origin, expression));
      }
    }
  }

  private OptionalLong amount(Map<String, Quantity> asked, String capacity) {
    Quantity quantity = asked.get(capacity);
    if (quantity == null) {
      return OptionalLong.empty();
    }
    try {
      BigDecimal amount = Amount.of(quantity);
      if (amount.signum() < 0) {
        problem("capacity.requests[" + capacity + "]", "must not be negative: " + quantity);
        return OptionalLong.empty();
      }
      return OptionalLong.of(amount.setScale(0, RoundingMode.CEILING).min(BEYOND).longValue());
    } catch (IllegalArgumentException e) {
      problem("capacity.requests[" + capacity + "]", "is not a quantity: " + Amount.words(quantity));
      return OptionalLong.empty();
    }
  }

  private List<Toleration> tolerations() {
    List<Toleration> tolerations = new ArrayList<>();
    for (DeviceToleration toleration : part.tolerations()) {
      String operator = Objects.requireNonNullElse(toleration.getOperator(), "Equal");
      if (!operator.equals("Exists") && !operator.equals("Equal")) {
        problem("tolerations", "operator " + operator + " is not supported");
      }
      tolerations.add(
          new Toleration(
              given(toleration.getKey()),
              operator.equals("Exists") ? Optional.empty() : Optional.of(given(toleration.getValue()).orElse("")),
              given(toleration.getEffect())));
    }
    return tolerations;
  }

  private static Optional<String> given(@org.jspecify.annotations.Nullable String text) {
    return Optional.ofNullable(text).filter(t -> !t.isEmpty());
  }

  private void problem(String field, String words) {
    problems.add(part.path() + "." + field + ": " + words);
  }
}
