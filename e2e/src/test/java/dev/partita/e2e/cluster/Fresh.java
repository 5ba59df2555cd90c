package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.client.KubernetesClientException;

/**
 * Repeats a change that reads an object and writes it back, as long as somebody else wrote the object in between. The
 * API server looks at resourceVersion before it asks its admission policies, so that a test of a policy must repeat as
 * well.
 */
public final class Fresh {
  private static final int TRIES = 20;

  private Fresh() {}

  /**
   * @param change reads the object anew each time
   * @throws KubernetesClientException what {@code change} throws, of a conflict only the last
   */
  public static void write(Runnable change) {
    for (int tries = 1;; tries++) {
      try {
        change.run();
        return;
      } catch (KubernetesClientException refused) {
        if (refused.getCode() != 409 || tries == TRIES) {
          throw refused;
        }
      }
    }
  }
}
