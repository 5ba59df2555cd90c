package dev.partita.controller.replay;

import dev.partita.api.DeviceMode;
import dev.partita.api.Driver;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** Makes claims as a reader would have read them, without a cluster. */
public final class PaperClaim {
  private PaperClaim() {}

  /** Whole cards of any of these models; any model if there are none. */
  public static ClaimRequest whole(String name, int count, List<String> models, List<Constraint> constraints) {
    return claim(name, constraints, DeviceMode.WHOLE, count, models, OptionalLong.empty(), OptionalLong.empty());
  }

  /** Shares of that many bytes and percent, on cards of any of these models; any model if there are none. */
  public static ClaimRequest shares(
      String name,
      int count,
      List<String> models,
      List<Constraint> constraints,
      long memory,
      long cores) {
    return claim(name, constraints, DeviceMode.SHARED, count, models, OptionalLong.of(memory), OptionalLong.of(cores));
  }

  /**
   * What all cards of a claim have in common.
   *
   * @param attribute {@code numaNode} or {@code model}; empty for nothing
   */
  public static List<Constraint> inCommon(Optional<String> attribute) {
    return attribute
        .map(name -> name.equals("numaNode") ? "resource.kubernetes.io/numaNode" : Driver.NAME + "/" + name)
        .map(name -> List.<Constraint>of(new Constraint.Equal(name, List.of()))).orElse(List.of());
  }

  private static ClaimRequest claim(
      String name,
      List<Constraint> constraints,
      DeviceMode mode,
      int count,
      List<String> models,
      OptionalLong memory,
      OptionalLong cores) {
    List<DeviceRequest.Selector> selectors = new ArrayList<>();
    selectors.add(new DeviceRequest.Selector("class", attribute("mode") + quoted(mode.attributeValue())));
    if (!models.isEmpty()) {
      String any = models.stream().map(model -> attribute("model") + quoted(model)).collect(Collectors.joining(" || "));
      selectors.add(new DeviceRequest.Selector("request", any));
    }
    DeviceRequest request =
        DeviceRequest.of("gpu", selectors, new DeviceRequest.Count.Exactly(count), CapacityRequest.of(memory, cores));
    return new ClaimRequest(new ClaimRef("default", name, name), List.of(new NamedRequest("gpu", List.of(request))),
        constraints);
  }

  private static String attribute(String name) {
    return "device.attributes[\"" + Driver.NAME + "\"]." + name + " == ";
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
