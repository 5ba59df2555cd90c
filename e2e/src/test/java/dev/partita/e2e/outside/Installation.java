package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Lab;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** What somebody else's manifests bring to a lab; closing it takes it away, the last first. */
final class Installation implements AutoCloseable {
  private final RealCluster cluster;
  private final Cleanup cleanup = new Cleanup();

  Installation(RealCluster cluster) {
    this.cluster = cluster;
  }

  static Lab lab(RealCluster cluster) {
    return cluster.lab().orElseThrow(() -> new IllegalStateException("only a lab makes images here"));
  }

  /** Where a program was fetched to, which must have been done. */
  static Path fetched(RealCluster cluster, String what, String program) {
    Path folder = cluster.home().resolve("hook-lib/target/outside").resolve(what);
    assertThat(folder.resolve(program)).as("sh hook-lib/build.sh fetch " + what).isExecutable();
    return folder;
  }

  /**
   * Brings an image with a program to all nodes.
   *
   * @param archive where it is written to
   * @param destination of the program in the image
   */
  void image(String name, Path archive, Path program, String destination) {
    lab(cluster).image(name, archive, List.of(program + ":" + destination));
    cluster.load(archive);
  }

  void apply(HasMetadata object) {
    takeAway(object);
    cluster.client().resource(object).forceConflicts().serverSideApply();
  }

  /** Has an object deleted in the end, and waits until it is gone. */
  void takeAway(HasMetadata object) {
    undo(object.getKind() + " " + object.getMetadata().getName(), () -> {
      cluster.client().resource(object).delete();
      await(object.getKind() + " " + object.getMetadata().getName() + " to be gone").atMost(Workspace.PATIENCE)
          .until(() -> cluster.client().resource(object).get() == null);
    });
  }

  void undo(String what, Runnable undo) {
    cleanup.undo(what, undo);
  }

  /** Has its pods run an image that is on all nodes. */
  static void run(Deployment deployment, String image) {
    var pod = deployment.getSpec().getTemplate().getSpec();
    var container = pod.getContainers().getFirst();
    container.setImage(image);
    container.setImagePullPolicy("IfNotPresent");
  }

  void awaitReady(String namespace, String deployment) {
    await(deployment + " to be ready").atMost(Workspace.PATIENCE).until(() -> Objects
        .requireNonNull(cluster.client().apps().deployments().inNamespace(namespace).withName(deployment).get())
        .getStatus().getReadyReplicas(), Integer.valueOf(1)::equals);
  }

  @Override
  public void close() {
    cleanup.close();
  }
}
