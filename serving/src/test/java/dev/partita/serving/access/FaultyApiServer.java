package dev.partita.serving.access;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.crud.KubernetesCrudDispatcherException;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.zjsonpatch.JsonPatchException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An API server that refuses to write over what has changed since it was read, as a real one does and the mock does
 * not, and answers some requests badly where a test wants that.
 */
public class FaultyApiServer extends KubernetesCrudDispatcher {
  private volatile Duration late = Duration.ofMillis(400);
  private volatile Function<RecordedRequest, Fault> faults = request -> Fault.NONE;

  /** What goes wrong with a request. */
  public enum Fault {
    NONE, NOT_FOUND(404), CONFLICT(409), TOO_MANY(429), BROKEN(500),
    /** It is done, and who made it does not learn of that. */
    ANSWER_LOST(504),
    /** It is done, and who made it learns of that later. */
    LATE;

    private final int code;

    Fault() {
      this(0);
    }

    Fault(int code) {
      this.code = code;
    }
  }

  /** From now on this goes wrong with requests. */
  public void fail(Function<RecordedRequest, Fault> requests) {
    faults = requests;
  }

  /** How late {@link Fault#LATE} is from now on. */
  public void lateBy(Duration by) {
    late = by;
  }

  /** What goes wrong with the request. */
  protected Fault faultOf(RecordedRequest request) {
    return faults.apply(request);
  }

  @Override
  public MockResponse dispatch(RecordedRequest request) {
    Fault fault = faultOf(request);
    return switch (fault) {
      case NONE -> answered(request);
      case LATE -> answered(request).setBodyDelay(late);
      case ANSWER_LOST -> {
        MockResponse _ = answered(request);
        yield answer(fault.code, fault.name());
      }
      case NOT_FOUND, CONFLICT, TOO_MANY, BROKEN -> answer(fault.code, fault.name());
    };
  }

  /** The answer to a request with which nothing goes wrong. */
  protected MockResponse answered(RecordedRequest request) {
    return super.dispatch(request);
  }

  @Override
  public MockResponse handleUpdate(RecordedRequest request) {
    return isOfAnOlderVersion(request) ? answer(409, "Conflict") : super.handleUpdate(request);
  }

  @Override
  public MockResponse handlePatch(RecordedRequest request) {
    try {
      return super.handlePatch(request);
    } catch (JsonPatchException doesNotApply) { // for which the mock has no answer
      return answer(422, "Invalid");
    }
  }

  private boolean isOfAnOlderVersion(RecordedRequest request) {
    Map.@Nullable Entry<AttributeSet, String> current = findResource(getKey(request.getPath()));
    if (current == null) {
      return false;
    }
    try {
      String wanted = version(asNode(body(request)));
      return !wanted.isEmpty() && !wanted.equals(version(asNode(current)));
    } catch (KubernetesCrudDispatcherException e) {
      return false; // for the mock to refuse
    }
  }

  /** The version that an object is of. */
  protected static String version(JsonNode object) {
    return object.path("metadata").path("resourceVersion").asText();
  }

  /** Not readUtf8, which leaves an empty body to who comes next. */
  protected static String body(RecordedRequest request) {
    return new String(request.getBody().getBytes(), StandardCharsets.UTF_8);
  }

  /** An answer without an object. */
  protected static MockResponse answer(int code, String reason) {
    String status = code < 300 ? "Success" : "Failure";
    return new MockResponse()
        .setResponseCode(code)
        .setBody(
            "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"%s\",\"code\":%d,\"reason\":\"%s\",\"message\":\"%s\"}"
                .formatted(status, code, reason, reason));
  }
}
