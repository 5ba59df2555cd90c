package dev.partita.controller.decode;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.partita.api.ApiServerJson;
import dev.partita.controller.decode.KeptFields.Kind;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Makes a client for informers alone. Its objects of the kinds that {@link KeptFields} lists have only the fields that
 * are listed there. Never write such an object back as a whole, unless its kind is kept with all that can be written of
 * it (slices, classes, GpuNodes).
 */
public final class InformerClient {
  private static final String FILTER = "partita-kept-fields";

  private InformerClient() {}

  /** Its caller closes it. */
  public static KubernetesClient of(Config config) {
    return new KubernetesClientBuilder()
        .withConfig(config)
        .withKubernetesSerialization(new FilteredEvents())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor(FILTER, new FilteredAnswers()))
        .build();
  }

  /** Answers to requests, which may have hundreds of megabytes, are filtered while they arrive. */
  private static final class FilteredAnswers implements Interceptor {
    @Override
    public AsyncBody.Consumer<List<ByteBuffer>> consumer(
        AsyncBody.Consumer<List<ByteBuffer>> consumer,
        HttpRequest request) {
      String path = request.uri().getPath();
      Optional<Kind> kind = KeptFields.ofPlural(path.substring(path.lastIndexOf('/') + 1));
      if (kind.isEmpty()) {
        return consumer;
      }
      String query = request.uri().getQuery();
      FilteredBody body =
          new FilteredBody(kind.get(), query == null || !List.of(query.split("&")).contains("watch=true"));
      return new AsyncBody.Consumer<>() {
        @Override
        public void consume(List<ByteBuffer> value, AsyncBody async) throws Exception {
          List<ByteBuffer> kept = new java.util.ArrayList<>();
          for (ByteBuffer chunk : value) {
            kept.add(ByteBuffer.wrap(body.arrived(chunk)));
          }
          consumer.consume(kept, async);
        }

        @Override
        public <U> U unwrap(Class<U> target) {
          return consumer.unwrap(target);
        }
      };
    }
  }

  /** Events come by a websocket as one text each, which no interceptor sees. */
  static final class FilteredEvents extends KubernetesSerialization {
    private static final JsonFactory JSON = ApiServerJson.factory();

    FilteredEvents() {
      super(new ObjectMapper().registerModule(new SimpleModule().addDeserializer(String.class, new SharedStrings())),
          true);
    }

    @Override
    public <T> T unmarshal(String text, Class<T> type) {
      if (type != WatchEvent.class) {
        return super.unmarshal(text, type);
      }
      byte[] event = text.getBytes(StandardCharsets.UTF_8);
      try {
        Optional<Kind> kind = kindIn(text).flatMap(KeptFields::ofKind);
        return super.unmarshal(
            new ByteArrayInputStream(kind.isEmpty() ? event : ObjectFilter.event(kind.get(), event, event.length)),
            type);
      } catch (IOException e) {
        throw KubernetesClientException.launderThrowable(e);
      }
    }

    private static Optional<String> kindIn(String event) throws IOException {
      try (JsonParser in = JSON.createParser(event)) {
        in.nextToken();
        while (in.nextToken() == JsonToken.FIELD_NAME) {
          boolean isObject = in.currentName().equals("object");
          if (in.nextToken() != JsonToken.START_OBJECT || !isObject) {
            in.skipChildren();
            continue;
          }
          while (in.nextToken() == JsonToken.FIELD_NAME) {
            boolean isKind = in.currentName().equals("kind");
            if (in.nextToken() == JsonToken.VALUE_STRING && isKind) {
              return Optional.of(in.getText());
            }
            in.skipChildren();
          }
        }
      }
      return Optional.empty();
    }
  }
}
