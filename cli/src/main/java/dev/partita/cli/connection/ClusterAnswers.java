package dev.partita.cli.connection;

import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import dev.partita.api.Excerpt;
import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.nio.channels.UnresolvedAddressException;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** Says in one line why the API server did not do what it was asked for, and what to do. */
public final class ClusterAnswers {
  private static final int LONGEST = 500;

  /** A chain of causes may be a ring. */
  private static final int DEEPEST = 20;

  private ClusterAnswers() {}

  /** The failure that the user sees in the place of the client's. */
  public static CommandFailure failure(KubernetesClientException e) {
    return failure(e, "");
  }

  /**
   * The same, which says of a server that does not answer where it was looked for.
   *
   * @param asked what the client was made of
   */
  public static CommandFailure failure(KubernetesClientException e, Config asked) {
    return failure(e, " at " + address(asked) + ClusterProxy.way(asked) + source(asked));
  }

  private static CommandFailure failure(KubernetesClientException e, String where) {
    return switch (e.getCode()) {
      case HttpURLConnection.HTTP_UNAUTHORIZED -> CommandFailure.failed(
          "the API server does not know who you are: the credentials of the kubeconfig are missing or have expired;"
              + " log in anew, or name another --context");
      case HttpURLConnection.HTTP_FORBIDDEN -> CommandFailure.failed("you may not do this: " + reason(e));
      case HttpURLConnection.HTTP_NOT_FOUND -> CommandFailure.failed(
          isKindMissing(e)
              ? "the API server has no such kind of object: is Partita installed here, and Kubernetes new enough?"
                  + " 'partita doctor' says"
              : "not found: " + reason(e));
      case HttpURLConnection.HTTP_CONFLICT -> CommandFailure.failed("somebody else changed it meanwhile; try again");
      default -> CommandFailure.failed(
          e.getCode() > 0
              ? "the API server refused: " + reason(e)
              : "no API server answers" + where + ": " + reason(e)
                  + "; is the cluster up, and --kubeconfig and --context the right ones?");
    };
  }

  /** Without what may be secret: a query, and a user, whose password may have any sign in it. */
  private static String address(Config asked) {
    return asked.getMasterUrl().replaceFirst("[?#].*", "").replaceFirst("://.*@", "://").replaceFirst("/+$", "");
  }

  private static String source(Config asked) {
    return Optional.ofNullable(asked.getCurrentContext())
        .map(context -> " (context " + context.getName()
            + Optional.ofNullable(asked.getFileWithCluster()).map(file -> " of " + file).orElse("") + ")")
        .orElse("");
  }

  /** Whether there is no such object, or no such kind of object. */
  public static boolean isNotFound(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  /** Whether the user may not do this, or is nobody that the API server knows. */
  public static boolean isForbidden(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_FORBIDDEN || e.getCode() == HttpURLConnection.HTTP_UNAUTHORIZED;
  }

  /** A missing object is named; of a missing kind the server only says that it has no such path. */
  private static boolean isKindMissing(KubernetesClientException e) {
    return e.getStatus() == null || e.getStatus().getDetails() == null || e.getStatus().getDetails().getName() == null;
  }

  /** The server's own message, or what kept the client from reaching it: one line of bounded length. */
  public static String reason(KubernetesClientException e) {
    String said = Optional.ofNullable(e.getStatus()).flatMap(status -> Optional.ofNullable(status.getMessage()))
        .orElseGet(() -> withoutStatus(e));
    return Excerpt.of(said.strip().replaceAll("\\p{Cntrl}+", " "), LONGEST);
  }

  private static String withoutStatus(KubernetesClientException e) {
    if (isOfAnother(e)) {
      return "something else does, such as a proxy with a page of its own";
    }
    return isUnknownToProxy(e)
        ? "the proxy wants a name and password, or others than HTTPS_PROXY or the kubeconfig's proxy-url give it"
        : rootOf(e);
  }

  /** The client fails so of a proxy's status 407, which the JDK gives it without a body. */
  private static boolean isUnknownToProxy(KubernetesClientException e) {
    return Stream.iterate((Throwable) e, Objects::nonNull, Throwable::getCause).limit(DEEPEST)
        .anyMatch(cause -> cause instanceof NullPointerException
            && String.valueOf(cause.getMessage()).contains("AsyncBody.done()"));
  }

  /** Whether what came is no object of Kubernetes at all: of one that lacks or has a field the client says its path. */
  private static boolean isOfAnother(KubernetesClientException e) {
    return Stream.iterate((Throwable) e, Objects::nonNull, Throwable::getCause).limit(DEEPEST)
        .anyMatch(cause -> cause instanceof MismatchedInputException whole && whole.getPath().isEmpty());
  }

  /** What went wrong first: clients wrap it in words of their own, which say less. */
  static String rootOf(Throwable failure) {
    Throwable root = failure;
    for (int depth = 0; depth < DEEPEST && root.getCause() != null; depth++) {
      if (root instanceof ConnectException && root.getMessage() == null) {
        // what the JDK's client has below it says less
        return root.getCause() instanceof UnresolvedAddressException
            ? "its name cannot be resolved"
            : "the connection is refused";
      }
      root = root.getCause();
    }
    return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
  }
}
