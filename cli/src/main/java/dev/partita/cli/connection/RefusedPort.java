package dev.partita.cli.connection;

import io.fabric8.kubernetes.client.LocalPortForward;
import io.fabric8.kubernetes.client.http.WebSocketHandshakeException;
import java.net.HttpURLConnection;

/** What the API server said to a port that was to be forwarded: it is asked when somebody connects to the local one. */
public final class RefusedPort {
  private RefusedPort() {}

  /** Whether the user may not. */
  public static boolean isForbidden(LocalPortForward forward) {
    return forward.getServerThrowables().stream()
        .anyMatch(thrown -> thrown instanceof WebSocketHandshakeException refused
            && refused.getResponse().code() == HttpURLConnection.HTTP_FORBIDDEN);
  }
}
