package dev.partita.cli.demo.controlplane;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Writes objects that others write as well: what the API server answers with 409 is read and written once more. */
public final class Conflicts {
  private Conflicts() {}

  /** Reads, changes and writes an object, again from the start if someone else wrote in between. */
  static void retry(Runnable readAndWrite) {
    retry(
        () -> {
          readAndWrite.run();
          return true;
        });
  }

  private static <T> T retry(Supplier<T> readAndWrite) {
    while (true) {
      try {
        return readAndWrite.get();
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
          throw e;
        }
      }
    }
  }

  /**
   * Changes a pod's status, of which kubelet, kube-scheduler and the controller each write their part.
   *
   * @param change of the pod as it is; may be asked several times
   * @return the pod as it was written
   */
  public static Pod editStatus(KubernetesClient client, Pod pod, UnaryOperator<Pod> change) {
    return retry(
        () -> client.pods().inNamespace(pod.getMetadata().getNamespace()).withName(pod.getMetadata().getName())
            .editStatus(change));
  }
}
