package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Programs run in a container that is running. */
final class Execution {
  private static final long LIMIT_SECONDS = 120;

  private Execution() {}

  /** Runs a shell script; gives its stdout, whatever its exit status. */
  static String run(PodResource pod, String container, String script) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ExecWatch watch = pod.inContainer(container).writingOutput(out).exec("sh", "-c", script)) {
      var _ = watch.exitCode().get(LIMIT_SECONDS, TimeUnit.SECONDS);
      return out.toString(StandardCharsets.UTF_8);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", interrupted);
    } catch (ExecutionException | TimeoutException failure) {
      throw new IllegalStateException("'" + script + "' could not be run in the container", failure);
    }
  }
}
