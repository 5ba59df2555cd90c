package dev.partita.cli.cluster.provider;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes and removes a cluster, and puts images on its nodes. Failures are
 * {@link dev.partita.cli.command.CommandFailure}s.
 */
public sealed interface ClusterProvider permits LabProvider, K3sProvider, CurrentProvider {
  /** What it needs in order to find its cluster again, in another process. */
  Map<String, String> details();

  /** Refuses, before anything is made, where the cluster could not be brought up. */
  void check();

  /**
   * Brings the cluster up and waits until its nodes are ready.
   *
   * @param kubernetes its version, such as 1.37, which only a lab takes; empty for the provider's own
   */
  ClusterRecord.Access up(int nodes, Optional<String> kubernetes, Progress progress);

  /** Makes archives of the images from what is staged, as far as that needs no cluster: it runs while that comes up. */
  void prepareImages(List<StagedImage> images);

  /** Puts the prepared images on every node. */
  void provideImages(List<StagedImage> images);

  /** Puts an image archive on every node. */
  void load(Path archive);

  /** Removes what {@link #up} made; nothing is done where nothing is left of it. */
  void down(ClusterRecord.Access access, Progress progress);

  /** The provider of a cluster that was recorded. */
  static ClusterProvider of(ClusterRecord record, StateFolder state) {
    return of(record.provider(), record.details(), state);
  }

  /**
   * @param details {@link #details} of the same provider, or the environment of this process
   */
  static ClusterProvider of(ProviderName provider, Map<String, String> details, StateFolder state) {
    return switch (provider) {
      case LAB -> LabProvider.from(details, state);
      case K3S -> K3sProvider.from(details, state);
      case CURRENT -> CurrentProvider.from(details);
    };
  }
}
