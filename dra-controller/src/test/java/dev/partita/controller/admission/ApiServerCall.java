package dev.partita.controller.admission;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * HTTPS as an API server speaks it with a webhook: it trusts the bundle only, and holds the certificate against the
 * Service's name.
 *
 * @param port on this machine
 * @param name that the certificate must be for
 * @param trusted authorities
 */
public record ApiServerCall(int port, String name, List<X509Certificate> trusted) {
  /** An answer. */
  public record Answer(int status, String body) {}

  public Answer post(String path, String body) throws IOException {
    return send("POST", path, "application/json", body.getBytes(StandardCharsets.UTF_8));
  }

  Answer send(String method, String path, String contentType, byte[] body) throws IOException {
    try (SSLSocket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(
          (method + " " + path + "?timeout=5s HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\nContent-Type: "
              + contentType
              + "\r\nContent-Length: " + body.length + "\r\n\r\n")
              .getBytes(StandardCharsets.US_ASCII));
      try {
        out.write(body);
        out.flush();
      } catch (IOException e) {
        // refused before all of it was read: the answer is there already
      }
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!answer.startsWith("HTTP/1.1 ")) {
        throw new IOException("no answer");
      }
      return new Answer(Integer.parseInt(answer.substring(9, 12)), answer.substring(answer.indexOf("\r\n\r\n") + 4));
    }
  }

  /** A connection on which the handshake is done. */
  SSLSocket connect() throws IOException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (int i = 0; i < trusted.size(); i++) {
        store.setCertificateEntry("ca-" + i, trusted.get(i));
      }
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
      SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, name, port, true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
      socket.setSoTimeout(60_000);
      socket.startHandshake();
      return socket;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** An AdmissionReview of a created object. */
  public static String review(String group, String resource, @Nullable String namespace, String object) {
    return review(group, resource, namespace, "CREATE", object, "null");
  }

  static String review(
      String group,
      String resource,
      @Nullable String namespace,
      String operation,
      String object,
      String oldObject) {
    return """
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
         "resource": {"group": "%s", "version": "v1", "resource": "%s"}, "operation": "%s", "namespace": "%s", "dryRun": true,
         "object": %s, "oldObject": %s}}
        """
        .formatted(group, resource, operation, namespace == null ? "" : namespace, object, oldObject);
  }
}
