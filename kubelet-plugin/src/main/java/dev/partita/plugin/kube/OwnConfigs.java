package dev.partita.plugin.kube;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import dev.partita.api.Driver;
import dev.partita.api.config.GpuShareConfig;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import io.fabric8.kubernetes.internal.KubernetesDeserializer;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads opaque configs of our driver, and of other drivers' only whose they are. Ours are kept as far as they can be
 * right: 10 KiB of nested lists, which is what the API allows, would become a hundred times as much here, in each of a
 * claim's configs. One that is larger, or cannot be read, has other parameters in its place, which
 * {@code GpuShareConfigDecoder} refuses: no config makes the claim unreadable.
 */
final class OwnConfigs extends StdDeserializer<OpaqueDeviceConfiguration> {
  /** What one config may weigh. No right one of 10 KiB does. */
  static final int MOST = 1_000;

  /** What all of a claim together may weigh: such as those of 32 requests that name 100 cards each. */
  static final int MOST_OF_CLAIM = 8_000;

  /** Text that weighs as much as a value. */
  private static final int CHARACTERS = 16;

  private static final long serialVersionUID = 1;

  OwnConfigs() {
    super(OpaqueDeviceConfiguration.class);
  }

  /** Parameters as the client hands them out elsewhere, too. */
  private static final class Parameters {
    @JsonProperty
    @JsonDeserialize(using = KubernetesDeserializer.class)
    @Nullable Object parameters;
  }

  @Override
  public OpaqueDeviceConfiguration deserialize(JsonParser json, DeserializationContext context) throws IOException {
    if (!json.isExpectedStartObjectToken()) {
      return (OpaqueDeviceConfiguration) context.handleUnexpectedToken(OpaqueDeviceConfiguration.class, json);
    }
    OpaqueDeviceConfiguration config = new OpaqueDeviceConfiguration();
    Object parameters = null;
    for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
      json.nextToken();
      boolean mayBeOurs = config.getDriver() == null || isOurs(config);
      if (field.equals("driver")) {
        config.setDriver(json.getValueAsString());
      } else if (field.equals("parameters") && mayBeOurs) {
        parameters = parameters(json, context);
      } else {
        json.skipChildren();
      }
    }
    if (isOurs(config)) {
      config.setParameters(parameters);
    }
    return config;
  }

  private static boolean isOurs(OpaqueDeviceConfiguration config) {
    return Driver.NAME.equals(config.getDriver());
  }

  private static @Nullable Object parameters(JsonParser json, DeserializationContext context) throws IOException {
    int left = Objects.requireNonNullElse((Integer) context.getAttribute(OwnConfigs.class), MOST_OF_CLAIM);
    try (TokenBuffer copy = new TokenBuffer(json, context)) {
      copy.writeStartObject();
      copy.writeFieldName("parameters");
      Optional<Integer> weight = copy(json, copy, Math.min(left, MOST));
      if (weight.isEmpty()) {
        return refused("too many values");
      }
      context.setAttribute(OwnConfigs.class, left - weight.get());
      copy.writeEndObject();
      try (JsonParser again = copy.asParserOnFirstToken()) {
        return context.readValue(again, Parameters.class).parameters;
      } catch (JsonMappingException | IllegalArgumentException e) { // apiVersion and kind make it one of the client's types
        return refused("metadata of another kind");
      }
    }
  }

  /** Parameters that the decoder refuses for that field. */
  private static Map<String, Object> refused(String field) {
    return Map.of("apiVersion", Driver.GROUP_VERSION, "kind", GpuShareConfig.KIND, field, true);
  }

  /** Copies the value at which the parser stands, and says what it weighs; empty if that is too much. */
  private static Optional<Integer> copy(JsonParser from, TokenBuffer to, int most) throws IOException {
    int weight = 0;
    int depth = 0;
    JsonToken token = from.currentToken();
    while (true) {
      if (token == null) {
        return Optional.empty();
      }
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      weight += token.isStructEnd() || token == JsonToken.FIELD_NAME ? 0 : 1;
      weight += token.isStructStart() || token.isStructEnd() ? 0 : from.getTextLength() / CHARACTERS;
      if (weight <= most) {
        to.copyCurrentEvent(from);
      }
      if (depth == 0) {
        return weight <= most ? Optional.of(weight) : Optional.empty();
      }
      token = from.nextToken();
    }
  }
}
