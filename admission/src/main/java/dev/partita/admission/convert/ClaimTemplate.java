package dev.partita.admission.convert;

import dev.partita.admission.request.GpuRequest.InstanceSize;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.CELDeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The ResourceClaimTemplate of a request. Equal requests have one, whatever dialect they came in: its name is derived
 * from what is asked for.
 */
public record ClaimTemplate(GpuRequest request) {
  /** The one request in the claim. */
  static final String REQUEST = "gpu";

  private static final String NAME_PREFIX = "partita-";

  /** 80 bits: nobody meets two requests of one name by accident. */
  private static final int NAME_BYTES = 10;

  private static final Pattern NAME = Pattern.compile(NAME_PREFIX + "[0-9a-f]{" + 2 * NAME_BYTES + "}");

  /** Whether a template of that name could be one of these. */
  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  /** A DNS label. It changes whenever anything that is asked for does, and with nothing else: pods refer to it. */
  public String name() {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content().getBytes(StandardCharsets.UTF_8));
      return NAME_PREFIX + HexFormat.of().formatHex(digest, 0, NAME_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** The object, without a namespace. */
  public ResourceClaimTemplate object() {
    return new ResourceClaimTemplateBuilder()
        .withNewMetadata()
        .withName(name())
        .endMetadata()
        .withNewSpec()
        .withNewSpec()
        .withNewDevices()
        .withRequests(deviceRequest())
        .withConfig(configs())
        .endDevices()
        .endSpec()
        .endSpec()
        .build();
  }

  /** One line for everything that is asked for; no value holds a line break, since CEL literals are escaped. */
  private String content() {
    StringBuilder lines = new StringBuilder("partita claim template 1\n");
    lines.append("count ").append(request.count()).append('\n');
    switch (request.portion()) {
      case Portion.Whole() -> lines.append("whole\n");
      case Portion.Share(var memory, var cores) -> {
        lines.append("share\n");
        if (memory instanceof Memory.Bytes(long bytes)) {
          lines.append("memory ").append(bytes).append('\n');
        }
        cores.ifPresent(percent -> lines.append("cores ").append(percent).append('\n'));
      }
      case Portion.Instance(var size) -> {
        lines.append("instance\n");
        if (size instanceof InstanceSize.AtLeast(long bytes)) {
          lines.append("memory ").append(bytes).append('\n');
        }
      }
      case Portion.Turn() -> lines.append("turn\n");
      case Portion.OfClass(String name) -> lines.append("class ").append(name).append('\n');
    }
    request.selectors().forEach(selector -> lines.append("selector ").append(selector).append('\n'));
    parameters()
        .forEach((field, value) -> lines.append("config ").append(field).append(' ').append(value).append('\n'));
    return lines.toString();
  }

  private DeviceRequest deviceRequest() {
    ExactDeviceRequestBuilder exactly = new ExactDeviceRequestBuilder();
    if (request.count() > 1) {
      exactly.withCount((long) request.count());
    }
    if (!request.selectors().isEmpty()) {
      exactly.withSelectors(
          request.selectors().stream().map(expression -> new DeviceSelector(new CELDeviceSelector(expression)))
              .toList());
    }
    switch (request.portion()) {
      case Portion.Whole() -> exactly.withDeviceClassName(Driver.WHOLE_CLASS);
      case Portion.Share(var memory, var cores) -> {
        exactly.withDeviceClassName(Driver.SHARE_CLASS);
        Map<String, Quantity> capacity = new LinkedHashMap<>();
        if (memory instanceof Memory.Bytes(long bytes)) {
          capacity.put(CapacityName.MEMORY, Bytes.quantity(bytes));
        }
        cores.ifPresent(percent -> capacity.put(CapacityName.CORES, new Quantity(Integer.toString(percent))));
        if (!capacity.isEmpty()) {
          exactly.withNewCapacity().withRequests(capacity).endCapacity();
        }
      }
      case Portion.Instance(var size) -> {
        exactly.withDeviceClassName(Driver.MIG_CLASS);
        if (size instanceof InstanceSize.AtLeast(long bytes)) {
          exactly.withNewCapacity().withRequests(Map.of(CapacityName.MEMORY, Bytes.quantity(bytes))).endCapacity();
        }
      }
      case Portion.Turn() -> exactly.withDeviceClassName(Driver.SHARE_CLASS);
      case Portion.OfClass(String name) -> exactly.withDeviceClassName(name);
    }
    return new DeviceRequestBuilder().withName(REQUEST).withExactly(exactly.build()).build();
  }

  private List<DeviceClaimConfiguration> configs() {
    if (parameters().isEmpty()) {
      return List.of();
    }
    Map<String, Object> parameters = new LinkedHashMap<>();
    parameters.put("apiVersion", Driver.GROUP_VERSION);
    parameters.put("kind", GpuShareConfig.KIND);
    parameters.putAll(parameters());
    return List.of(
        new DeviceClaimConfigurationBuilder()
            .withNewOpaque()
            .withDriver(Driver.NAME)
            .withParameters(parameters)
            .endOpaque()
            .build());
  }

  private Map<String, Object> parameters() {
    ShareOptions options = request.options();
    Map<String, Object> parameters = new TreeMap<>();
    options.coreLimit().ifPresent(limit -> parameters.put("coreLimit", limit));
    options.priority().ifPresent(level -> parameters.put("priority", level));
    if (request.portion() instanceof Portion.Share(Memory.Percent(int percent), var _)) {
      parameters.put("memoryPercent", percent);
    }
    options.memoryLimit().ifPresent(bytes -> parameters.put("memoryLimit", Bytes.quantity(bytes).toString()));
    if (request.portion() instanceof Portion.Turn) {
      parameters.put("sharing", Map.of("strategy", "TimeSlicing"));
    }
    if (!options.placement().isEmpty()) {
      parameters.put("placement", new LinkedHashMap<>(options.placement()));
    }
    return parameters;
  }
}
