package dev.partita.cdi;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * CDI specs as JSON. Writing is deterministic: the same spec gives the same bytes. Reading is strict: an unknown or
 * repeated field is an error, and what was read is validated.
 */
public final class CdiJson {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .defaultSetterInfo(JsonSetter.Value.forContentNulls(Nulls.FAIL))
          .build();

  private CdiJson() {}

  /**
   * The spec's bytes, UTF-8, with a newline at the end. Throws IllegalArgumentException with every problem of an
   * invalid spec.
   */
  public static byte[] write(CdiSpec spec) {
    List<String> problems = CdiValidation.problemsOf(spec);
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException("not a valid CDI spec: " + String.join("; ", problems));
    }
    try {
      String text = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(SpecJson.of(spec));
      return (text + "\n").getBytes(StandardCharsets.UTF_8);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a CDI spec is always JSON", e);
    }
  }

  /**
   * Reads a spec.
   *
   * @param source names the document in errors, such as its path
   */
  public static CdiSpec read(byte[] document, String source) throws CdiFormatException {
    CdiSpec spec;
    try {
      @Nullable SpecJson json = MAPPER.readValue(new String(document, StandardCharsets.UTF_8), SpecJson.class);
      if (json == null) {
        throw new CdiFormatException(source, List.of("it is null"));
      }
      spec = json.toSpec();
    } catch (JsonProcessingException e) {
      throw new CdiFormatException(source, e);
    }
    List<String> problems = CdiValidation.problemsOf(spec);
    if (!problems.isEmpty()) {
      throw new CdiFormatException(source, problems);
    }
    return spec;
  }

  private static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : list;
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  private static <T> @Nullable List<T> orAbsent(List<T> list) {
    return list.isEmpty() ? null : list;
  }

  private static @Nullable String orAbsent(String text) {
    return text.isEmpty() ? null : text;
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"cdiVersion", "kind", "annotations", "devices",
    "containerEdits"})
  private record SpecJson(
      @Nullable String cdiVersion,
      @Nullable String kind,
      @Nullable Map<String, String> annotations,
      @Nullable List<DeviceJson> devices,
      @Nullable EditsJson containerEdits) {

    static SpecJson of(CdiSpec spec) {
      return new SpecJson(
          spec.version(),
          spec.kind().toString(),
          spec.annotations().isEmpty() ? null : spec.annotations(),
          spec.devices().stream().map(d -> new DeviceJson(d.name(), EditsJson.of(d.containerEdits()))).toList(),
          spec.containerEdits().isEmpty() ? null : EditsJson.of(spec.containerEdits()));
    }

    CdiSpec toSpec() {
      return new CdiSpec(
          orEmpty(cdiVersion),
          CdiKind.parse(orEmpty(kind)),
          annotations == null ? new TreeMap<>() : new TreeMap<>(annotations),
          orEmpty(devices).stream().map(d -> new CdiDevice(orEmpty(d.name()), EditsJson.toEdits(d.containerEdits())))
              .toList(),
          EditsJson.toEdits(containerEdits));
    }
  }

  private record DeviceJson(@Nullable String name, @Nullable EditsJson containerEdits) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"env", "deviceNodes", "hooks", "mounts",
    "additionalGids"})
  private record EditsJson(
      @Nullable List<String> env,
      @Nullable List<NodeJson> deviceNodes,
      @Nullable List<HookJson> hooks,
      @Nullable List<MountJson> mounts,
      @Nullable List<Long> additionalGids) {

    static EditsJson of(ContainerEdits edits) {
      return new EditsJson(
          orAbsent(edits.env()),
          orAbsent(edits.deviceNodes().stream().map(NodeJson::of).toList()),
          orAbsent(edits.hooks().stream().map(HookJson::of).toList()),
          orAbsent(
              edits.mounts().stream()
                  .map(m -> new MountJson(m.hostPath(), m.containerPath(), orAbsent(m.options()), orAbsent(m.type())))
                  .toList()),
          orAbsent(edits.additionalGids()));
    }

    static ContainerEdits toEdits(@Nullable EditsJson edits) {
      if (edits == null) {
        return ContainerEdits.NONE;
      }
      return new ContainerEdits(
          orEmpty(edits.env()),
          orEmpty(edits.deviceNodes()).stream().map(NodeJson::toNode).toList(),
          orEmpty(edits.mounts()).stream()
              .map(m -> new Mount(orEmpty(m.hostPath()), orEmpty(m.containerPath()), orEmpty(m.options()),
                  orEmpty(m.type())))
              .toList(),
          orEmpty(edits.hooks()).stream().map(HookJson::toHook).toList(),
          orEmpty(edits.additionalGids()));
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record NodeJson(
      @Nullable String path,
      @Nullable String hostPath,
      @Nullable String type,
      @Nullable Long major,
      @Nullable Long minor,
      @Nullable Integer fileMode,
      @Nullable String permissions,
      @Nullable Long uid,
      @Nullable Long gid) {

    static NodeJson of(DeviceNode node) {
      boolean numbered = node.major() != 0 || node.minor() != 0;
      return new NodeJson(
          node.path(),
          node.hostPath().orElse(null),
          orAbsent(node.type()),
          numbered ? node.major() : null,
          numbered ? node.minor() : null,
          node.fileMode().isPresent() ? node.fileMode().getAsInt() : null,
          orAbsent(node.permissions()),
          node.uid().orElse(null),
          node.gid().orElse(null));
    }

    DeviceNode toNode() {
      return new DeviceNode(
          orEmpty(path),
          Optional.ofNullable(hostPath),
          orEmpty(type),
          major == null ? 0 : major,
          minor == null ? 0 : minor,
          fileMode == null ? OptionalInt.empty() : OptionalInt.of(fileMode),
          orEmpty(permissions),
          Optional.ofNullable(uid),
          Optional.ofNullable(gid));
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record MountJson(
      @Nullable String hostPath,
      @Nullable String containerPath,
      @Nullable List<String> options,
      @Nullable String type) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record HookJson(
      @Nullable String hookName,
      @Nullable String path,
      @Nullable List<String> args,
      @Nullable List<String> env,
      @Nullable Integer timeout) {

    static HookJson of(Hook hook) {
      return new HookJson(
          hook.hookName(),
          hook.path(),
          orAbsent(hook.args()),
          orAbsent(hook.env()),
          hook.timeoutSeconds().isPresent() ? hook.timeoutSeconds().getAsInt() : null);
    }

    Hook toHook() {
      return new Hook(
          orEmpty(hookName),
          orEmpty(path),
          orEmpty(args),
          orEmpty(env),
          timeout == null ? OptionalInt.empty() : OptionalInt.of(timeout));
    }
  }
}
