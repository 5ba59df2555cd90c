import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * Makes the command line's AOT cache (JEP 483, JEP 514): runs {@code partita top gpus} against a stand-in for the API
 * server, whose lists have a node and a claim, and has the JVM write down which classes that took. The stand-in speaks
 * TLS and asks for a client certificate, as API servers do: that takes a third of all classes. Arguments: the program,
 * and the cache's file.
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

  private static final String ALIAS = "rehearsal";
  private static final String PASSWORD = "rehearsal"; // of keys that live as long as this program

  private Rehearsal() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("rehearsal");
    Path keys = folder.resolve("keys.p12");
    keytool(keys, "-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=rehearsal", "-ext",
        "san=ip:127.0.0.1", "-validity", "2");
    KeyStore store = KeyStore.getInstance(keys.toFile(), PASSWORD.toCharArray());
    HttpsServer server = serve(store);
    Path kubeconfig = folder.resolve("kubeconfig");
    String certificate = inBase64(pem("CERTIFICATE", store.getCertificate(ALIAS).getEncoded()));
    String key = inBase64(pem("PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()));
    Files.writeString(kubeconfig,
        """
            apiVersion: v1
            kind: Config
            clusters: [{name: stand-in, cluster: {server: "https://127.0.0.1:%1$d", certificate-authority-data: %2$s}}]
            contexts: [{name: stand-in, context: {cluster: stand-in, user: admin}}]
            users: [{name: admin, user: {client-certificate-data: %2$s, client-key-data: %3$s}}]
            current-context: stand-in
            """
            .formatted(server.getAddress().getPort(), certificate, key));
    try {
      ProcessBuilder run = new ProcessBuilder(List.of(arguments[0], "top", "gpus")).redirectErrorStream(true);
      run.environment().put("KUBECONFIG", kubeconfig.toString());
      run.environment().put("PARTITA_AOT", "-XX:AOTCacheOutput=" + arguments[1]);
      Process process = run.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0 || !Files.exists(Path.of(arguments[1])) || !said.contains("h200")) {
        System.err.println("the rehearsal failed: " + said);
        System.exit(1);
      }
    } finally {
      server.stop(0);
      Files.delete(kubeconfig);
      Files.delete(keys);
      Files.delete(folder);
    }
  }

  private static HttpsServer serve(KeyStore store) throws Exception {
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(store, PASSWORD.toCharArray());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("client", store.getCertificate(ALIAS));
    TrustManagerFactory clients = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    clients.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), clients.getTrustManagers(), null);
    HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context) {
      @Override
      public void configure(HttpsParameters parameters) {
        SSLParameters wanted = context.getDefaultSSLParameters();
        wanted.setWantClientAuth(true);
        parameters.setSSLParameters(wanted);
      }
    });
    server.createContext("/", exchange -> {
      byte[] body = (exchange.getRequestURI().getPath().endsWith("/gpunodes") ? NODES : CLAIMS)
          .getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    return server;
  }

  private static void keytool(Path keys, String... what) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin/keytool").toString());
    command.addAll(List.of(what));
    command.addAll(List.of("-alias", ALIAS, "-keystore", keys.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException("keytool: " + said);
    }
  }

  private static String pem(String kind, byte[] content) {
    return "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder(64, new byte[]{'\n'}).encodeToString(content)
        + "\n-----END " + kind + "-----\n";
  }

  private static String inBase64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
