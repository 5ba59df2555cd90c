package dev.partita.plugin.inventory;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.NodeSetup;
import dev.partita.api.resize.NodeResizes;
import dev.partita.plugin.opaque.OpaqueCards;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes a GpuNode's status from an inventory. */
final class GpuNodeStatuses {
  /** What the plugin writes; the controller writes others. */
  private static final Set<String> OWN = Set.of(GpuNode.READY, GpuNode.CARD_FILES_VALID);

  /** Kubernetes takes 32768 characters (meta/v1, Condition). */
  private static final int LONGEST_MESSAGE = 8192;

  private GpuNodeStatuses() {}

  /**
   * The status to report. An unchanged node gives an equal status: where the Ready condition says the same as before it
   * keeps its time of transition, and so does what the node holds. What the controller writes stays.
   *
   * @param held what it holds that no claim accounts for
   * @param setup how it is set up
   */
  static GpuNodeStatus of(
      Inventory inventory,
      List<HeldClaim> held,
      NodeSetup setup,
      @Nullable GpuNodeStatus earlier,
      @Nullable String pluginVersion,
      @Nullable String pluginPodUid,
      Instant now) {
    GpuNodeStatus found = found(inventory, earlier, pluginVersion, pluginPodUid, now);
    boolean silent = inventory instanceof Inventory.NoCards none && none.isSilence() && earlier != null;
    return found.withHeld(silent ? List.of() : asBefore(held, earlier))
        .withResizes(earlier == null ? NodeResizes.NONE : earlier.resizes())
        .withOtherDrivers(earlier == null ? List.of() : earlier.otherDrivers())
        .withBindingClaims(earlier == null ? List.of() : earlier.bindingClaims()).withSetup(setup);
  }

  private static GpuNodeStatus found(
      Inventory inventory,
      @Nullable GpuNodeStatus earlier,
      @Nullable String pluginVersion,
      @Nullable String pluginPodUid,
      Instant now) {
    return switch (inventory) {
      case Inventory.NoCards none when none.isSilence() && earlier != null ->
          // what an earlier plugin has seen: claims have these cards, and their indexes must not be forgotten
          new GpuNodeStatus(
              earlier.gpuCount(),
              earlier.models(),
              earlier.driverVersion(),
              earlier.cudaDriverVersion(),
              pluginVersion,
              pluginPodUid,
              Inventory.silent(earlier.gpus()),
              withOthers(List.of(ready(false, none.reason(), none.message(), earlier, now)), earlier));
      case Inventory.NoCards none ->
          new GpuNodeStatus(
              0,
              "",
              null,
              null,
              pluginVersion,
              pluginPodUid,
              List.of(),
              withOthers(List.of(ready(false, none.reason(), none.message(), earlier, now)), earlier));
      case Inventory.Cards cards ->
          new GpuNodeStatus(
              cards.gpus().size(),
              models(cards.gpus()),
              cards.driverVersion().orElse(null),
              cards.cudaDriverVersion().orElse(null),
              pluginVersion,
              pluginPodUid,
              cards.gpus(),
              withOthers(
                  Stream.concat(
                      Stream.of(readyOf(cards, earlier, now)), filesOf(cards.opaque(), earlier, now).stream()).toList(),
                  earlier));
    };
  }

  /** Counts of models, for people: {@code 4x h200, 1x t4}. */
  static String models(List<Gpu> gpus) {
    Map<String, Long> counts =
        gpus.stream().collect(Collectors.groupingBy(Gpu::model, TreeMap::new, Collectors.counting()));
    return counts.entrySet().stream().map(e -> e.getValue() + "x " + e.getKey()).collect(Collectors.joining(", "));
  }

  /** The same, with the times of what an earlier plugin has reported already. */
  private static List<HeldClaim> asBefore(List<HeldClaim> held, @Nullable GpuNodeStatus earlier) {
    if (earlier == null || held.isEmpty()) {
      return held;
    }
    Map<String, String> since = new TreeMap<>();
    earlier.held().forEach(claim -> since.put(claim.claimUid(), claim.since()));
    return held.stream().map(claim -> claim.since(since.getOrDefault(claim.claimUid(), claim.since()))).toList();
  }

  /** The conditions with those of other types, which others write. */
  private static List<Condition> withOthers(List<Condition> own, @Nullable GpuNodeStatus earlier) {
    List<Condition> conditions = new ArrayList<>(own);
    if (earlier != null) {
      earlier.conditions().stream().filter(condition -> !OWN.contains(condition.getType())).forEach(conditions::add);
    }
    return conditions;
  }

  private static Condition readyOf(Inventory.Cards cards, @Nullable GpuNodeStatus earlier, Instant now) {
    if (cards.gpus().isEmpty()) {
      return switch (cards.driver()) {
        case Inventory.NoCards none -> ready(false, none.reason(), none.message(), earlier, now);
        case Inventory.LoadedDriver driver -> ready(
            false,
            NodeReason.NoGpus,
            "the driver " + driver.version() + " lists no card; look for them with lspci and nvidia-smi on the node",
            earlier,
            now);
      };
    }
    long unhealthy = cards.gpus().stream().filter(gpu -> gpu.health().state() != GpuHealth.State.Healthy).count();
    String message = cards.gpus().size() + (cards.gpus().size() == 1 ? " card" : " cards");
    long opaque = cards.gpus().stream().filter(Gpu::isOpaque).count();
    return ready(true, NodeReason.GpusFound,
        message + (unhealthy == 0 ? "" : ", " + unhealthy + " of them unhealthy")
            + (opaque == 0 ? "" : ", " + opaque + " of them opaque: nothing holds programs to their share of these")
            + (cards.driver() instanceof Inventory.NoCards none ? "; of NVIDIA's cards: " + none.message() : ""),
        earlier, now);
  }

  /** Whether all that the node's files say of opaque cards can be used; empty where there are none. */
  private static Optional<Condition> filesOf(OpaqueCards opaque, @Nullable GpuNodeStatus earlier, Instant now) {
    if (!opaque.areListed()) {
      return Optional.empty();
    }
    boolean valid = opaque.problems().isEmpty();
    String problems = String.join("; ", opaque.problems());
    return Optional.of(condition(GpuNode.CARD_FILES_VALID, valid, valid ? NodeReason.FilesUsed : NodeReason.WrongCards,
        valid
            ? "the files list " + opaque.byUuid().size() + " opaque cards"
            : problems.length() <= LONGEST_MESSAGE ? problems : problems.substring(0, LONGEST_MESSAGE) + " ...",
        earlier, now));
  }

  private static Condition ready(
      boolean ready,
      NodeReason reason,
      String message,
      @Nullable GpuNodeStatus earlier,
      Instant now) {
    return condition(GpuNode.READY, ready, reason, message, earlier, now);
  }

  private static Condition condition(
      String type,
      boolean holds,
      NodeReason reason,
      String message,
      @Nullable GpuNodeStatus earlier,
      Instant now) {
    String status = holds ? "True" : "False";
    String since =
        Optional.ofNullable(earlier).stream()
            .flatMap(s -> s.conditions().stream())
            .filter(c -> type.equals(c.getType()) && Objects.equals(c.getStatus(), status))
            .map(Condition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(now.truncatedTo(ChronoUnit.SECONDS).toString());
    return new ConditionBuilder()
        .withType(type)
        .withStatus(status)
        .withReason(reason.name())
        .withMessage(message)
        .withLastTransitionTime(since)
        .build();
  }
}
