package dev.partita.cli.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The rights that requests to the API server use, as RBAC names them: {@code resource.k8s.io/resourceclaims patch}. */
final class UsedRights {
  private static final String CLAIM_STATUS = "resource.k8s.io/resourceclaims/status";

  private UsedRights() {}

  /**
   * Of all requests in a file, each as in {@code GET /api/v1/pods}.
   *
   * @param also whom they come from, which decides what is asked for besides
   */
  static Set<String> of(Path requests, Besides also) throws IOException {
    Set<String> rights = new TreeSet<>();
    try (Stream<String> lines = Files.lines(requests)) {
      lines.map(line -> line.split(" ", 2)).forEach(request -> rights.addAll(of(request[0], request[1], also)));
    }
    return rights;
  }

  /** What the API server asks for besides the right itself, of who writes the status of a claim. */
  enum Besides {
    /** For the allocation. */
    BINDING,
    /** For the devices of a driver on the node that the writer is of. */
    DRIVER_ON_NODE
  }

  /**
   * Of one request.
   *
   * @param target path and query, such as {@code /api/v1/namespaces/default/pods/p/status}
   */
  static List<String> of(String method, String target, Besides also) {
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
    if (resource.equals(CLAIM_STATUS)) {
      rights.add(
          switch (also) {
            case BINDING -> "resource.k8s.io/resourceclaims/binding " + verb;
            case DRIVER_ON_NODE -> "resource.k8s.io/resourceclaims/driver associated-node:" + verb;
          });
    }
    return rights;
  }
}
