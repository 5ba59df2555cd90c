package dev.partita.plugin.inventory;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.OtherServer;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.diagnosis.CardReason;
import dev.partita.plugin.grant.Enforcer;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.opaque.OpaqueCards;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What cards the node has, at one moment. */
public sealed interface Inventory {
  /**
   * The health of a card, which it still has while there is no driver.
   *
   * @return empty if the card is not known, or none has been read yet
   */
  Optional<GpuHealth> healthOf(String uuid);

  /**
   * The health of what a claim has of a card: the card's, or that of its MIG instance where only that is not well.
   *
   * @return empty if the card is not known, or none has been read yet
   */
  default Optional<GpuHealth> healthOf(Grant grant) {
    return healthOf(grant.card().uuid());
  }

  /** Who holds shares of the card with that UUID to their memory: the library alone, where nothing else is known. */
  default Enforcer enforcerOf(String uuid) {
    return new Enforcer.Interception();
  }

  /**
   * The same, with who else hands out which card.
   *
   * @param others tells that of cards, by UUID
   */
  default Inventory servedBy(Function<List<Gpu>, Map<String, List<OtherServer>>> others) {
    return this;
  }

  /** The cards as far as they are known while NVML does not answer. */
  static List<Gpu> silent(List<Gpu> gpus) {
    GpuHealth unknown =
        GpuHealth.unhealthy(CardReason.NvmlDoesNotAnswer.name(),
            "NVML has not come back from a call for long; see dmesg and nvidia-smi on the node");
    return gpus.stream()
        .map(gpu -> gpu.health().state() == GpuHealth.State.Healthy && !gpu.isOpaque() ? gpu.withHealth(unknown) : gpu)
        .toList();
  }

  /** What there is of NVIDIA's driver beside opaque cards. */
  sealed interface DriverState {}

  /**
   * A driver that answers.
   *
   * @param files the driver's files
   * @param version NVML's own word for it
   * @param cudaVersion the newest CUDA that the driver runs
   */
  record LoadedDriver(DriverFiles files, String version, Optional<String> cudaVersion) implements DriverState {}

  /**
   * A driver that answers, or opaque cards, or both. There may be no cards.
   *
   * @param driver NVIDIA's; without one, why there is none
   * @param gpus every card seen since the start, by index; one of the driver's that is gone is unhealthy
   * @param opaque what the node's files say of opaque cards
   */
  record Cards(DriverState driver, List<Gpu> gpus, OpaqueCards opaque) implements Inventory {
    public Cards {
      gpus = List.copyOf(gpus);
    }

    /** Cards of a driver, and no opaque ones. */
    public Cards(DriverFiles files, String driverVersion, Optional<String> cudaDriverVersion, List<Gpu> gpus) {
      this(new LoadedDriver(files, driverVersion, cudaDriverVersion), gpus, OpaqueCards.NONE);
    }

    private Optional<LoadedDriver> loaded() {
      return driver instanceof LoadedDriver it ? Optional.of(it) : Optional.empty();
    }

    /** The driver's files; empty without one that answers. */
    public Optional<DriverFiles> files() {
      return loaded().map(LoadedDriver::files);
    }

    /** NVML's own word for the driver; empty without one that answers. */
    public Optional<String> driverVersion() {
      return loaded().map(LoadedDriver::version);
    }

    /** The newest CUDA that the driver runs. */
    public Optional<String> cudaDriverVersion() {
      return loaded().flatMap(LoadedDriver::cudaVersion);
    }

    /**
     * The same while NVML does not answer. Nobody knows which card is to blame. What was said of a card before stays.
     */
    Cards silent() {
      return new Cards(driver, Inventory.silent(gpus), opaque);
    }

    @Override
    public Cards servedBy(Function<List<Gpu>, Map<String, List<OtherServer>>> others) {
      Map<String, List<OtherServer>> byCard = others.apply(gpus);
      return new Cards(driver,
          gpus.stream().map(gpu -> gpu.withServedBy(byCard.getOrDefault(gpu.uuid(), List.of()))).toList(), opaque);
    }

    /** The card that devices of this index mean. */
    public Optional<Gpu> byIndex(int index) {
      return gpus.stream().filter(gpu -> gpu.index() == index).findFirst();
    }

    @Override
    public Optional<GpuHealth> healthOf(String uuid) {
      return byUuid(uuid).map(Gpu::health)
          .or(() -> driver instanceof NoCards none ? Optional.of(none.health()) : Optional.empty());
    }

    @Override
    public Optional<GpuHealth> healthOf(Grant grant) {
      Optional<GpuHealth> ofCard = healthOf(grant.card().uuid());
      return ofCard.filter(health -> health.state() != GpuHealth.State.Healthy)
          .or(() -> byUuid(grant.card().uuid()).flatMap(gpu -> ofInstance(gpu, grant)))
          .or(() -> ofCard);
    }

    private static Optional<GpuHealth> ofInstance(Gpu gpu, Grant grant) {
      return grant.mig().flatMap(instance -> gpu.staticMigInstance(instance.slot()))
          .flatMap(instance -> Optional.ofNullable(instance.health()));
    }

    @Override
    public Enforcer enforcerOf(String uuid) {
      return byUuid(uuid).map(Gpu::memoryEnforcement).map(Enforcer::of).orElse(new Enforcer.Interception());
    }

    public Optional<Gpu> byUuid(String uuid) {
      return gpus.stream().filter(gpu -> gpu.uuid().equals(uuid)).findFirst();
    }

    /**
     * Whether {@code /dev/nvidia<minor>} is the card's. The driver numbers cards anew when it is loaded, and then the
     * number of a card that is gone may be another card's.
     */
    public boolean hasNode(Gpu card) {
      return card.health().state() == GpuHealth.State.Healthy
          || gpus.stream().noneMatch(
              other -> !other.isOpaque() && other.minor() == card.minor() && !other.uuid().equals(card.uuid()));
    }
  }

  /**
   * No driver that answers.
   *
   * @param message what is wrong and what to do
   */
  record NoCards(NodeReason reason, String message) implements Inventory, DriverState {
    /** What is known before the first reading has ended. */
    static final NoCards NOT_READ = new NoCards(NodeReason.NotRead, "the cards have not been read yet");

    /** NVML has not come back from a call for so long. Nobody knows what cards there are. */
    static NoCards silent(Duration since) {
      return new NoCards(
          NodeReason.NvmlDoesNotAnswer,
          "NVML does not answer: it has not come back from a call for " + Math.max(1, since.toSeconds())
              + " s; see dmesg and nvidia-smi on the node");
    }

    /** Of whatever card there was. */
    public GpuHealth health() {
      return GpuHealth.unhealthy(reason.name(), message);
    }

    @Override
    public Optional<GpuHealth> healthOf(String uuid) {
      return equals(NOT_READ) ? Optional.empty() : Optional.of(health());
    }

    /** Whether NVML's silence is the reason. Then the cards that were known before may still be there. */
    boolean isSilence() {
      return reason == NodeReason.NvmlDoesNotAnswer;
    }
  }
}
