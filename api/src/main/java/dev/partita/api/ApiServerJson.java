package dev.partita.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads whatever JSON an API server sends. A user can write objects that Jackson refuses: 1,000 levels deep, with names
 * of 50,000 characters, numbers of 1,000 digits, bytes that are no UTF-8 or half a surrogate pair. Who cannot read one
 * of them in a list or a watch sees nothing of the others' objects either.
 */
public final class ApiServerJson {
  /** Go's decoders take 10,000 (encoding/json and sigs.k8s.io/json, maxNestingDepth); lists and events add a few. */
  private static final int LEVELS = 10_100;

  /** More than an object has: etcd takes 1.5 MiB, and escapes may make it six times as long. */
  private static final int OF_A_NAME = 16 << 20;

  /** An opaque config, the only place where a number stays as it was written, has 10 KiB (resource.k8s.io). */
  private static final int OF_A_NUMBER = 16 << 10;

  private ApiServerJson() {}

  /**
   * Makes parsers that remember no names: Jackson's shared table of names would hold thousands, however long they are.
   */
  public static JsonFactory factory() {
    return new Factory(
        new JsonFactoryBuilder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(LEVELS)
                    .maxNameLength(OF_A_NAME)
                    .maxNumberLength(OF_A_NUMBER)
                    .build()));
  }

  /** Decodes objects by such parsers. */
  public static ObjectMapper mapper() {
    return new ObjectMapper(factory());
  }

  /** Its parsers read {@link RepairedJson}. */
  private static final class Factory extends JsonFactory {
    private static final long serialVersionUID = 1;

    Factory(JsonFactoryBuilder builder) {
      super(builder);
    }

    private Factory(Factory other, @Nullable ObjectCodec codec) {
      super(other, codec);
    }

    @Override
    public JsonFactory copy() {
      return new Factory(this, null);
    }

    @Override
    public JsonParser createParser(InputStream json) throws IOException {
      return super.createParser(new RepairedJson(json));
    }

    @Override
    public JsonParser createParser(byte[] json) throws IOException {
      return createParser(json, 0, json.length);
    }

    @Override
    public JsonParser createParser(byte[] json, int offset, int length) throws IOException {
      return createParser(new ByteArrayInputStream(json, offset, length));
    }

    @Override
    public JsonParser createParser(String json) throws IOException {
      return createParser(json.getBytes(StandardCharsets.UTF_8));
    }
  }
}
