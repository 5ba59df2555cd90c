package dev.partita.plugin;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** Scrapes as Prometheus does with a bearer token and insecure_skip_verify. */
final class TlsScrape extends X509ExtendedTrustManager {
  private TlsScrape() {}

  /**
   * The status and the text.
   *
   * @param token empty for none
   */
  static String of(int port, String token) throws IOException, InterruptedException, GeneralSecurityException {
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[]{new TlsScrape()}, null);
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/metrics"));
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    try (HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() + " " + answer.body();
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) {}

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) {}

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
