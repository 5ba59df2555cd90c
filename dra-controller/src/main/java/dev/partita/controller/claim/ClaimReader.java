package dev.partita.controller.claim;

import dev.partita.api.Driver;
import dev.partita.api.config.ShareConfigs;
import dev.partita.controller.decode.LeftOut;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a ResourceClaim asks for. It names what it does not understand, and never ignores anything in silence.
 */
public final class ClaimReader {
  /** Most devices of one allocation (resource.k8s.io/v1, AllocationResultsMaxSize). */
  static final int MAX_RESULTS = ClaimRequest.MOST_RESULTS;

  private final Function<String, @Nullable DeviceClass> classes;
  private final Function<String, Optional<String>> compileError;

  /**
   * @param classes a DeviceClass by name; null if there is none
   */
  public ClaimReader(Function<String, @Nullable DeviceClass> classes, DeviceSelectors selectors) {
    this(classes, selectors::compileError);
  }

  private ClaimReader(
      Function<String, @Nullable DeviceClass> classes,
      Function<String, Optional<String>> compileError) {
    this.classes = classes;
    this.compileError = compileError;
  }

  /**
   * One that asks before it compiles an expression whether there still is time for it.
   *
   * @param inTime throws if there is none
   */
  public static ClaimReader inTime(
      Function<String, @Nullable DeviceClass> classes,
      DeviceSelectors selectors,
      Runnable inTime) {
    return new ClaimReader(classes, expression -> {
      inTime.run();
      return selectors.compileError(expression);
    });
  }

  /**
   * One that takes selectors as they are, for who only wants to know how much is asked for: it never compiles an
   * expression.
   */
  public static ClaimReader ofAmounts(Function<String, @Nullable DeviceClass> classes) {
    return new ClaimReader(classes, _ -> Optional.empty());
  }

  /** A reference to the claim. */
  public static ClaimRef ref(ResourceClaim claim) {
    return new ClaimRef(claim.getMetadata().getNamespace(), claim.getMetadata().getName(),
        claim.getMetadata().getUid());
  }

  public ClaimReading read(ResourceClaim claim) {
    List<String> leftOut = LeftOut.of(claim);
    if (!leftOut.isEmpty()) {
      return new ClaimReading.Unusable(leftOut.stream().map(LeftOut::words).toList());
    }
    var devices = claim.getSpec().getDevices();
    if (devices == null || devices.getRequests().isEmpty()) {
      return new ClaimReading.Foreign();
    }
    List<io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest> ofClaim = devices.getRequests();
    List<List<RequestPart>> parts = new ArrayList<>();
    for (int i = 0; i < ofClaim.size(); i++) {
      parts.add(RequestPart.of(ofClaim.get(i), i));
    }
    List<RequestPart> all = parts.stream().flatMap(List::stream).toList();
    List<RequestPart> others = all.stream().filter(part -> !Ownership.isOurs(part, classes)).toList();
    if (others.size() == all.size()) {
      return new ClaimReading.Foreign();
    }
    List<String> problems = new ArrayList<>();
    for (RequestPart part : others) {
      problems.add(
          part.path() + ".deviceClassName: " + part.className() + " is not a class of " + Driver.NAME
              + "; devices of two drivers need two claims");
    }
    if (problems.isEmpty()) {
      reportConfigs(claim, all, problems);
    }
    List<NamedRequest> requests = new ArrayList<>();
    if (problems.isEmpty()) {
      for (int i = 0; i < ofClaim.size(); i++) {
        List<DeviceRequest> alternatives = new ArrayList<>();
        for (RequestPart part : parts.get(i)) {
          @Nullable DeviceClass deviceClass = classes.apply(part.className());
          if (deviceClass == null) {
            problems.add(part.path() + ".deviceClassName: there is no DeviceClass " + part.className());
          } else {
            new RequestReader(part, deviceClass, devices.getConfig(), compileError, problems).read()
                .ifPresent(alternatives::add);
          }
        }
        if (!alternatives.isEmpty()) {
          requests.add(new NamedRequest(ofClaim.get(i).getName(), alternatives));
        }
      }
    }
    reportCount(requests, problems);
    new RequestRules(classes).byMpsAlone(claim.getSpec()).ifPresent(error -> problems.add(error.toString()));
    var constraints = ConstraintReader.read(devices.getConstraints(), requests, problems);
    return problems.isEmpty()
        ? new ClaimReading.Understood(
            new ClaimRequest(ref(claim), requests, constraints, ConstraintReader.preferences(requests)))
        : new ClaimReading.Unusable(problems);
  }

  private void reportConfigs(ResourceClaim claim, List<RequestPart> parts, List<String> problems) {
    var configs = claim.getSpec().getDevices().getConfig();
    for (int i = 0; i < configs.size(); i++) {
      report("spec.devices.config[" + i + "].opaque.parameters", configs.get(i).getOpaque(), problems);
    }
    Set<String> classNames = new LinkedHashSet<>();
    parts.forEach(part -> classNames.add(part.className()));
    for (String name : classNames) {
      @Nullable DeviceClass deviceClass = classes.apply(name);
      if (deviceClass != null) {
        var ofClass = deviceClass.getSpec().getConfig();
        for (int i = 0; i < ofClass.size(); i++) {
          String path = "DeviceClass " + name + ": spec.config[" + i + "].opaque.parameters";
          report(path, ofClass.get(i).getOpaque(), problems);
        }
      }
    }
  }

  private static void report(String path, @Nullable OpaqueDeviceConfiguration opaque, List<String> problems) {
    if (opaque != null) {
      ShareConfigs.errors(path, opaque.getDriver(), opaque.getParameters())
          .forEach(error -> problems.add(error.toString()));
    }
  }

  private static void reportCount(List<NamedRequest> requests, List<String> problems) {
    long devices = 0;
    for (NamedRequest request : requests) {
      devices +=
          request.alternatives().stream()
              .mapToLong(
                  alternative -> alternative.count() instanceof DeviceRequest.Count.Exactly(int count) ? count : 1)
              .min()
              .orElse(0);
    }
    if (devices > MAX_RESULTS) {
      problems.add("spec.devices.requests: asks for " + devices + " devices; one claim can hold " + MAX_RESULTS);
    }
  }

  /** The expressions of a list of selectors. */
  static List<String> expressions(@Nullable List<DeviceSelector> selectors) {
    return Objects.requireNonNullElse(selectors, List.<DeviceSelector>of()).stream()
        .map(selector -> selector.getCel() == null ? "" : selector.getCel().getExpression())
        .toList();
  }
}
