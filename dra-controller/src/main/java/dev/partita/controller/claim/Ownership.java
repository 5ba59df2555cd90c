package dev.partita.controller.claim;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a request is for this driver's devices. The devices cannot tell, for the cluster may have none yet. So
 * the class tells: it has our label, or its selectors, or the request's, name the driver.
 */
public final class Ownership {
  private static final Pattern NAMES_DRIVER = Pattern.compile("[\"']" + Pattern.quote(Driver.NAME) + "[\"']");
  private static final Pattern EXCLUDES_DRIVER =
      Pattern.compile("device\\.driver\\s*!=\\s*[\"']" + Pattern.quote(Driver.NAME) + "[\"']");

  private Ownership() {}

  /**
   * Whether one of a claim's requests is for our devices.
   *
   * @param classes a DeviceClass by name; null if there is none
   */
  public static boolean isOurs(@Nullable ResourceClaimSpec spec, Function<String, @Nullable DeviceClass> classes) {
    return RequestPart.of(spec).stream().anyMatch(part -> isOurs(part, classes));
  }

  /** The same of one request. */
  static boolean isOurs(RequestPart part, Function<String, @Nullable DeviceClass> classes) {
    return isOurs(part.className(), classes.apply(part.className()), part.selectors());
  }

  private static boolean isOurs(
      String className,
      @Nullable DeviceClass deviceClass,
      List<DeviceSelector> ofRequest) {
    if (deviceClass == null) {
      return className.equals(Driver.NAME) || className.endsWith("." + Driver.NAME);
    }
    if (isManaged(deviceClass)) {
      return true;
    }
    List<String> expressions =
        Stream.concat(deviceClass.getSpec().getSelectors().stream(), ofRequest.stream())
            .filter(selector -> selector.getCel() != null)
            .map(selector -> selector.getCel().getExpression())
            .toList();
    return expressions.stream().anyMatch(e -> NAMES_DRIVER.matcher(e).find())
        && expressions.stream().noneMatch(e -> EXCLUDES_DRIVER.matcher(e).find());
  }

  /** Whether the controller has made the class. */
  static boolean isManaged(DeviceClass deviceClass) {
    Map<String, String> labels = Objects.requireNonNullElse(deviceClass.getMetadata().getLabels(), Map.of());
    return Driver.MANAGED_BY_CONTROLLER.equals(labels.get(Driver.MANAGED_BY_LABEL));
  }
}
