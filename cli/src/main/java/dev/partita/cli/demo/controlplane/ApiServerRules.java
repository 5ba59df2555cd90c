package dev.partita.cli.demo.controlplane;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.crud.KubernetesCrudDispatcherException;
import io.fabric8.mockwebserver.crud.AttributeSet;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The CRUD mock server, with the rules of a real API server that it lacks and that components rely on: claims and pods
 * keep their status when their spec is written, and an update of a status that was read too long ago is a conflict.
 * Requests come one at a time: the server has one thread.
 */
final class ApiServerRules extends KubernetesCrudDispatcher {
  private static final List<CustomResourceDefinitionContext> WITH_STATUS =
      List.of(
          new CustomResourceDefinitionContext.Builder()
              .withGroup("resource.k8s.io")
              .withVersion("v1")
              .withKind("ResourceClaim")
              .withPlural("resourceclaims")
              .withScope("Namespaced")
              .withStatusSubresource(true)
              .build(),
          new CustomResourceDefinitionContext.Builder()
              .withVersion("v1")
              .withKind("Pod")
              .withPlural("pods")
              .withScope("Namespaced")
              .withStatusSubresource(true)
              .build());

  ApiServerRules() {
    super(WITH_STATUS);
  }

  @Override
  public MockResponse handleUpdate(RecordedRequest request) {
    return isOfAnOlderVersion(request) ? conflict(request) : super.handleUpdate(request);
  }

  @Override
  public MockResponse handleWatch(String path) {
    MockResponse watch = super.handleWatch(path);
    return watch.withWebSocketUpgrade(new EndingWatch(watch.getWebSocketListener()));
  }

  private boolean isOfAnOlderVersion(RecordedRequest request) {
    Map.Entry<AttributeSet, String> current = findResource(getKey(request.getPath()));
    if (current == null) {
      return false;
    }
    try {
      // Not readUtf8, which leaves an empty body to who comes next.
      String wanted = versionOf(asNode(new String(request.getBody().getBytes(), StandardCharsets.UTF_8)));
      return !wanted.isEmpty() && !wanted.equals(versionOf(asNode(current)));
    } catch (KubernetesCrudDispatcherException e) {
      return false; // the mock answers for a body that is no object
    }
  }

  private static String versionOf(JsonNode object) {
    return object.path("metadata").path("resourceVersion").asText();
  }

  private static MockResponse conflict(RecordedRequest request) {
    var conflict =
        new KubernetesCrudDispatcherException(
            "Operation cannot be fulfilled on " + request.getPath() + ": the object has been modified",
            HttpURLConnection.HTTP_CONFLICT);
    return new MockResponse().setResponseCode(HttpURLConnection.HTTP_CONFLICT).setBody(conflict.toStatusBody());
  }
}
