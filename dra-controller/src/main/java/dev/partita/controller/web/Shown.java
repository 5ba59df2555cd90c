package dev.partita.controller.web;

import java.net.HttpURLConnection;

/** What is answered to a question about the cluster. */
sealed interface Shown {
  /**
   * It is shown.
   *
   * @param view written as JSON as it stands
   * @param complete false where there was no time to find out about all namespaces: what is missing comes with the next
   *        answer
   */
  record As(Object view, boolean complete) implements Shown {}

  /** It is not, and why, for people. */
  record Not(int status, String why) implements Shown {
    /** The user may not see it. */
    static Not allowed(String user, String what) {
      return new Not(HttpURLConnection.HTTP_FORBIDDEN, user + " may not " + what);
    }

    static Not found(String what) {
      return new Not(HttpURLConnection.HTTP_NOT_FOUND, "there is no " + what);
    }

    /** It cannot be told now. */
    static Not now(String why) {
      return new Not(HttpURLConnection.HTTP_UNAVAILABLE, why);
    }
  }
}
