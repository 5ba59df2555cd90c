package dev.partita.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names of a claim's requests as the results of an allocation have them: {@code request}, or {@code
 * request/subrequest} where the request gave alternatives (resource.k8s.io/v1, DeviceRequestAllocationResult).
 */
public final class RequestName {
  private RequestName() {}

  /** The request's own name, without that of its subrequest. */
  public static String withoutSubrequest(String resultName) {
    int slash = resultName.indexOf('/');
    return slash < 0 ? resultName : resultName.substring(0, slash);
  }

  /**
   * Whether a list of requests, of a config or of a constraint, covers the results of that name. No list and an empty
   * one cover all; the name of a request covers each of its subrequests.
   */
  public static boolean covers(@Nullable List<String> requests, String resultName) {
    return requests == null || requests.isEmpty() || requests.contains(resultName)
        || requests.contains(withoutSubrequest(resultName));
  }
}
