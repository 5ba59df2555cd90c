import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * As much of an API server as a plugin asks for. It has a claim of every number, allocated one share of a card of the
 * node; claims that follow each other belong to one pod.
 */
final class ApiStandIn implements AutoCloseable {
  private static final String GPU_NODES = "/apis/gpu.partita.dev/v1alpha1/gpunodes";
  private static final String NOT_FOUND =
      "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"code\":404}";

  private final String node;
  private final int cards;
  private final HttpServer server;
  private final Map<String, String> stored = new ConcurrentHashMap<>();
  private final Set<Integer> told = ConcurrentHashMap.newKeySet();
  private volatile int claimsOfAPod = 1;

  /** @param cards how many the node has */
  ApiStandIn(String node, int cards) throws IOException {
    this.node = node;
    this.cards = cards;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  /** From now on a pod has so many claims: the first one those from 0 on, and so forth. */
  void haveClaimsOfAPod(int count) {
    claimsOfAPod = count;
  }

  /** Whether the plugin has written the status of all these claims. */
  boolean hasBeenToldOf(Collection<Integer> claims) {
    return told.containsAll(claims);
  }

  static String uid(int claim) {
    return String.format("0b5e8a9e-0000-4000-8000-%012d", claim);
  }

  /** UID of the pod that has the claim. */
  String podOf(int claim) {
    return podUid(claim / claimsOfAPod);
  }

  private static String podUid(int pod) {
    return String.format("0b5e8a9e-0000-4000-9000-%012d", pod);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String query = String.valueOf(exchange.getRequestURI().getQuery());
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    if (query.contains("watch=true")) {
      exchange.sendResponseHeaders(200, 0); // nothing happens: it is left open
      exchange.getResponseBody().flush();
      return;
    }
    String method = exchange.getRequestMethod();
    if (path.equals(GPU_NODES) && method.equals("GET")) {
      send(exchange, 200, """
          {"apiVersion": "gpu.partita.dev/v1alpha1", "kind": "GpuNodeList", "metadata": {"resourceVersion": "1"},
           "items": [%s]}""".formatted(String.join(",", stored.values())));
    } else if (path.startsWith(GPU_NODES)) {
      gpuNode(exchange, method, body);
    } else if (path.contains("/resourceclaims/")) {
      int number = Integer.parseInt(path.replaceAll(".*/resourceclaims/claim-", "").replaceAll("/.*", ""));
      send(exchange, 200, claim(number));
      if (!method.equals("GET")) {
        told.add(number);
      }
    } else if (path.contains("/pods/pod-")) {
      send(exchange, 200, pod(Integer.parseInt(path.replaceAll(".*/pods/pod-", ""))));
    } else if (method.equals("GET")) {
      send(exchange, 404, NOT_FOUND);
    } else {
      send(exchange, 201, body);
    }
  }

  private void gpuNode(HttpExchange exchange, String method, String body) throws IOException {
    if (method.equals("GET")) {
      String known = stored.get(node);
      send(exchange, known == null ? 404 : 200, known == null ? NOT_FOUND : known);
    } else {
      stored.put(node, body);
      send(exchange, method.equals("POST") ? 201 : 200, body);
    }
  }

  private static void send(HttpExchange exchange, int code, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private String claim(int number) {
    int pod = number / claimsOfAPod;
    return """
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
         "metadata": {"namespace": "default", "name": "claim-%d", "uid": "%s", "resourceVersion": "1"},
         "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.partita.dev"}}]}},
         "status": {"reservedFor": [{"resource": "pods", "name": "pod-%d", "uid": "%s"}],
          "allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.partita.dev",
           "pool": "%s/gpu", "device": "gpu-%d-shared", "shareID": "%s",
           "consumedCapacity": {"memory": "1Gi", "cores": "3"}}]}}}}"""
        .formatted(number, uid(number), pod, podUid(pod), node, number % cards, uid(1_000_000 + number));
  }

  private String pod(int number) {
    List<Integer> claims = IntStream.range(number * claimsOfAPod, (number + 1) * claimsOfAPod).boxed().toList();
    return """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "pod-%d", "uid": "%s"},
         "spec": {"nodeName": "%s", "resourceClaims": [%s],
          "containers": [{"name": "main", "image": "example", "resources": {"claims": [%s]}}]}}"""
        .formatted(
            number, podUid(number), node,
            joined(claims, "{\"name\": \"of-%1$d\", \"resourceClaimName\": \"claim-%1$d\"}"),
            joined(claims, "{\"name\": \"of-%d\"}"));
  }

  private static String joined(List<Integer> numbers, String format) {
    return numbers.stream().map(format::formatted).collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
