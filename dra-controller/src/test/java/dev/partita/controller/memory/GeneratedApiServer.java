package dev.partita.controller.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;

/**
 * As much of an API server as a controller needs that has little to write: lists by pages, watches, making and changing
 * objects. Of a {@link GeneratedCluster} it holds only what was written.
 */
public final class GeneratedApiServer implements AutoCloseable {
  private final Map<String, GeneratedCluster.Kind> kinds;
  private final Map<String, TreeMap<String, ObjectNode>> written = new ConcurrentHashMap<>();
  private final Map<String, List<OutputStream>> watches = new ConcurrentHashMap<>();
  private long version = 1_000_000;

  private final HttpServer server;

  private GeneratedApiServer(Map<String, GeneratedCluster.Kind> kinds) throws IOException {
    this.kinds = kinds;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
    server.setExecutor(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
    server.createContext("/", this::handle);
  }

  /** Serves these objects, by their kinds' plurals; whoever asks may see everything. */
  public static GeneratedApiServer start(Map<String, GeneratedCluster.Kind> kinds) throws IOException {
    GeneratedApiServer api = new GeneratedApiServer(kinds);
    api.server.start();
    return api;
  }

  /** Where it listens. */
  public String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  /**
   * Arguments: nodes, cards of each, pods, claims, bytes of annotations of each pod, pods that wait. Prints its port;
   * ends with its standard input.
   */
  public static void main(String[] arguments) throws IOException {
    int[] sizes = List.of(arguments).stream().mapToInt(Integer::parseInt).toArray();
    GeneratedApiServer api =
        start(new GeneratedCluster(sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]).kinds());
    System.out.println(api.server.getAddress().getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String[] path = exchange.getRequestURI().getPath().substring(1).split("/", -1);
      int at = path[0].equals("api") ? 2 : 3;
      at += path.length > at + 2 && path[at].equals("namespaces") ? 2 : 0;
      String plural = path.length > at ? path[at] : "";
      GeneratedCluster.Kind kind = kinds.get(plural);
      Map<String, String> query = query(exchange.getRequestURI().getQuery());
      boolean named = path.length > at + 1;
      if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
        send(exchange, 200, "{}"); // no websockets here: the client then asks for a plain stream
      } else if (exchange.getRequestMethod().equals("GET") && kind != null && !named) {
        if ("true".equals(query.get("watch"))) {
          watch(exchange, plural, kind);
        } else {
          list(exchange, kind, query);
        }
      } else if (exchange.getRequestMethod().equals("POST")) {
        ObjectNode object = (ObjectNode) GeneratedCluster.JSON.readTree(exchange.getRequestBody());
        review(plural, object);
        write(plural, object, "ADDED");
        send(exchange, 201, object.toString());
      } else if (exchange.getRequestMethod().equals("PUT")) {
        ObjectNode object = (ObjectNode) GeneratedCluster.JSON.readTree(exchange.getRequestBody());
        write(plural, object, "MODIFIED");
        send(exchange, 200, object.toString());
      } else if (exchange.getRequestMethod().equals("PATCH") && kind != null) {
        exchange.getRequestBody().readAllBytes(); // conditions of pods: nobody reads them here
        ObjectNode object =
            GeneratedCluster.JSON.createObjectNode().put("kind", kind.kind()).put("apiVersion", kind.apiVersion());
        object.putObject("metadata").put("name", path[at + 1]);
        send(exchange, 200, object.toString());
      } else if (path[0].equals("version")) {
        send(exchange, 200, "{\"major\":\"1\",\"minor\":\"36\"}");
      } else {
        send(exchange, 404,
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"code\":404}");
      }
    }
  }

  private static void review(String plural, ObjectNode review) {
    switch (plural) {
      case "tokenreviews" ->
          review.putObject("status").put("authenticated", true).putObject("user").put("username", "viewer");
      case "subjectaccessreviews" -> review.putObject("status").put("allowed", true);
      default -> {}
    }
  }

  private void list(HttpExchange exchange, GeneratedCluster.Kind kind, Map<String, String> query) throws IOException {
    int from = Integer.parseInt(query.getOrDefault("continue", "0"));
    int most = Integer.parseInt(query.getOrDefault("limit", "1000000"));
    int to = Math.min(kind.count(), from + most);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(
          "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"1000000\"%s},\"items\":["
              .formatted(kind.kind(), kind.apiVersion(), to < kind.count() ? ",\"continue\":\"" + to + "\"" : "")
              .getBytes(UTF_8));
      for (int i = from; i < to; i++) {
        out.write(((i == from ? "" : ",") + kind.object(i)).getBytes(UTF_8));
      }
      out.write("]}".getBytes(UTF_8));
    }
  }

  private void watch(HttpExchange exchange, String plural, GeneratedCluster.Kind kind) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    synchronized (this) {
      ObjectNode here =
          GeneratedCluster.JSON.createObjectNode().put("kind", kind.kind()).put("apiVersion", kind.apiVersion());
      here.putObject("metadata").put("resourceVersion", "1000000");
      event(out, "BOOKMARK", here);
      for (ObjectNode object : written.getOrDefault(plural, new TreeMap<>()).values()) {
        event(out, "ADDED", object);
      }
      out.flush();
      watches.computeIfAbsent(plural, p -> new CopyOnWriteArrayList<>()).add(out);
    }
    try {
      Thread.sleep(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void write(String plural, ObjectNode object, String type) throws IOException {
    ObjectNode metadata = object.withObject("/metadata").put("resourceVersion", Long.toString(++version));
    if (!metadata.has("uid")) {
      metadata.put("uid", GeneratedCluster.uid("made-" + version));
    }
    if (!kinds.containsKey(plural)) {
      return;
    }
    written.computeIfAbsent(plural, p -> new TreeMap<>())
        .put(metadata.path("namespace").asText() + "/" + metadata.path("name").asText(), object);
    for (OutputStream out : watches.getOrDefault(plural, List.of())) {
      event(out, type, object);
      out.flush();
    }
  }

  private static void event(OutputStream out, String type, JsonNode object) throws IOException {
    out.write(("{\"type\":\"" + type + "\",\"object\":" + object + "}\n").getBytes(UTF_8));
  }

  private static Map<String, String> query(String query) {
    Map<String, String> values = new HashMap<>();
    if (query != null) {
      for (String pair : query.split("&", -1)) {
        String[] parts = pair.split("=", 2);
        values.put(parts[0], parts.length > 1 ? parts[1] : "");
      }
    }
    return values;
  }

  private static void send(HttpExchange exchange, int code, String body) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
