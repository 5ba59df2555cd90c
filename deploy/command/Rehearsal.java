import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Makes the command line's AOT cache (JEP 483, JEP 514): runs {@code partita top gpus} against a stand-in for the API
 * server, whose lists have a node and a claim, and has the JVM write down which classes that took. Arguments: the
 * program, and the cache's file.
 */
final class Rehearsal {
  private static final String NODES =
      """
          {"apiVersion": "gpu.partita.dev/v1alpha1", "kind": "GpuNodeList", "metadata": {"resourceVersion": "1"}, "items": [
            {"apiVersion": "gpu.partita.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": "node", "resourceVersion": "1"},
             "status": {"gpuCount": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "Ready",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}],
              "gpus": [{"index": 0, "minor": 0, "uuid": "GPU-0", "productName": "NVIDIA H200", "model": "h200", "brand": "Nvidia",
                "architecture": "Hopper", "cudaComputeCapability": "9.0", "memoryBytes": 150323855360, "health": {"state": "Healthy"}}]}}]}
          """;

  private static final String CLAIMS =
      """
          {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList", "metadata": {"resourceVersion": "1"}, "items": [
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"name": "claim", "namespace": "default", "uid": "1", "resourceVersion": "1"}, "spec": {"devices": {}},
             "status": {"reservedFor": [{"resource": "pods", "name": "pod", "uid": "2"}],
              "allocation": {"devices": {"results": [{"driver": "gpu.partita.dev", "pool": "node", "device": "gpu-0-shared",
                "request": "gpu", "shareID": "3", "consumedCapacity": {"memory": "8Gi", "cores": "25"}}]}}}}]}
          """;

  private Rehearsal() {}

  public static void main(String[] arguments) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      byte[] body = (exchange.getRequestURI().getPath().endsWith("/gpunodes") ? NODES : CLAIMS)
          .getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    Path kubeconfig = Files.createTempFile("rehearsal", ".yaml");
    Files.writeString(kubeconfig,
        """
            apiVersion: v1
            kind: Config
            clusters: [{name: stand-in, cluster: {server: "http://127.0.0.1:%d"}}]
            contexts: [{name: stand-in, context: {cluster: stand-in, user: nobody}}]
            users: [{name: nobody, user: {token: none}}]
            current-context: stand-in
            """
            .formatted(server.getAddress().getPort()));
    try {
      ProcessBuilder run = new ProcessBuilder(List.of(arguments[0], "top", "gpus")).redirectErrorStream(true);
      run.environment().put("KUBECONFIG", kubeconfig.toString());
      run.environment().put("PARTITA_AOT", "-XX:AOTCacheOutput=" + arguments[1]);
      Process process = run.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0 || !Files.exists(Path.of(arguments[1]))) {
        System.err.println("the rehearsal failed: " + said);
        System.exit(1);
      }
    } finally {
      Files.delete(kubeconfig);
      server.stop(0);
    }
  }
}
