package dev.partita.cli.doctor;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The API server's clock, from the Date header of an answer (RFC 9110), to the second. */
record ServerClock(KubernetesClient client) {
  private static final int SECONDS = 10;

  /**
   * Asks once; null if the answer has no time.
   *
   * @throws KubernetesClientException if there is no answer
   */
  @Nullable
  Instant now() {
    HttpRequest request =
        client.getHttpClient().newHttpRequestBuilder().uri(client.getMasterUrl() + "version").build();
    try {
      HttpResponse<String> response =
          client.getHttpClient().sendAsync(request, String.class).get(SECONDS, TimeUnit.SECONDS);
      return response.headers("Date").stream().findFirst().map(ServerClock::parse).orElse(null);
    } catch (ExecutionException | TimeoutException e) {
      throw new KubernetesClientException("no answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KubernetesClientException("interrupted", e);
    }
  }

  private static @Nullable Instant parse(String date) {
    try {
      return ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    } catch (DateTimeException e) {
      return null;
    }
  }
}
