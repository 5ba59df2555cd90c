package dev.partita.controller;

import io.fabric8.mockwebserver.http.RecordedRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * The rights that controllers use in these tests, as RBAC names them: {@code resource.k8s.io/resourceclaims patch}.
 * When all tests have run they lie in {@code target/rights-used.txt}, for the test that the chart grants these alone.
 */
final class UsedRights {
  private static final Set<String> USED = new ConcurrentSkipListSet<>();
  private static final Path FILE = Path.of("target", "rights-used.txt");

  static {
    if (System.getProperty("test") == null) { // -Dtest names some of them, which use less
      Runtime.getRuntime().addShutdownHook(new Thread(UsedRights::write, "rights-used"));
    }
  }

  private UsedRights() {}

  static void record(RecordedRequest request) {
    USED.addAll(rights(request.getMethod(), request.getPath()));
  }

  /** Those of the tests that have run. */
  static Set<String> soFar() {
    return Set.copyOf(USED);
  }

  /**
   * @param target path and query, such as {@code /api/v1/namespaces/default/pods/p/status}
   */
  static List<String> rights(String method, String target) {
    String[] parts = target.split("\\?", 2);
    List<String> path = new ArrayList<>(List.of(parts[0].substring(1).split("/")));
    if (!path.getFirst().startsWith("api")) {
      return List.of(); // such as /version, which everybody may read
    }
    String group = path.removeFirst().equals("api") ? "" : path.removeFirst();
    path.removeFirst(); // the version
    if (path.size() > 2 && path.getFirst().equals("namespaces")) {
      path.subList(0, 2).clear();
    }
    boolean one = path.size() > 1;
    String resource = group + "/" + path.getFirst() + (path.size() > 2 ? "/" + path.get(2) : "");
    String verb =
        switch (method) {
          case "GET" -> parts.length > 1 && parts[1].contains("watch=true") ? "watch" : one ? "get" : "list";
          case "POST" -> "create";
          case "PUT" -> "update";
          case "PATCH" -> "patch";
          default -> "delete";
        };
    List<String> rights = new ArrayList<>(List.of(resource + " " + verb));
    if (resource.equals("resource.k8s.io/resourceclaims/status")) {
      rights.add("resource.k8s.io/resourceclaims/binding " + verb); // asked for besides, for the allocation
    }
    return rights;
  }

  private static void write() {
    try {
      Files.write(FILE, USED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
