package dev.partita.serving.metrics;

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

/**
 * What a scraper with a bearer token and insecure_skip_verify gets.
 *
 * @param answer status, headers and text
 */
public record TlsScrape(HttpResponse<String> answer) {
  /**
   * Scrapes a port of this machine.
   *
   * @param authorization the header; empty for none
   */
  public static TlsScrape of(int port, String authorization) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/metrics"));
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    try (HttpClient client = HttpClient.newBuilder().sslContext(trusting()).build()) {
      return new TlsScrape(client.send(request.build(), HttpResponse.BodyHandlers.ofString()));
    }
  }

  public int status() {
    return answer.statusCode();
  }

  public String text() {
    return answer.body();
  }

  private static SSLContext trusting() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[]{new TrustsAll()}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class TrustsAll extends X509ExtendedTrustManager {
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
}
