package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.XidEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeInventoryTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private final StuckCard card = new StuckCard();

  @Test
  void cardsAreUnhealthyWhileNvmlDoesNotComeBack() throws IOException {
    AtomicReference<GpuHealth> told = new AtomicReference<>(GpuHealth.HEALTHY);
    card.readings.release();
    try (NodeInventory inventory =
        inventory(state -> told.set(((Inventory.Cards) state).gpus().getFirst().health()), Duration.ofMillis(100))) {
      inventory.refresh();
      inventory.start(Duration.ofMillis(10));
      await().atMost(SOON).until(() -> "NvmlDoesNotAnswer".equals(Objects.requireNonNull(told.get()).reason()));
      assertThat(inventory.current()).isInstanceOfSatisfying(Inventory.Cards.class,
          cards -> assertThat(cards.gpus()).hasSize(1));
      card.readings.release(1_000_000);
      await().atMost(SOON).until(() -> Objects.requireNonNull(told.get()).state() == GpuHealth.State.Healthy);
    }
  }

  @Test
  void whoWaitsForTheFirstReadingIsToldThatNvmlDoesNotAnswerAndSoIsTheListener() throws IOException {
    AtomicReference<Inventory> told = new AtomicReference<>(Inventory.NoCards.NOT_READ);
    try (NodeInventory inventory = inventory(told::set, Duration.ofMillis(100))) {
      inventory.start(Duration.ofMillis(10));
      assertThat(inventory.current()).isEqualTo(Inventory.NoCards.NOT_READ);
      assertThat(inventory.refresh()).isInstanceOfSatisfying(Inventory.NoCards.class,
          none -> assertThat(none.isSilence()).isTrue());
      await().atMost(SOON).until(() -> told.get() instanceof Inventory.NoCards none && none.isSilence());
      card.readings.release(1_000_000);
      await().atMost(SOON).until(() -> told.get() instanceof Inventory.Cards);
      await().atMost(SOON).until(() -> inventory.refresh() instanceof Inventory.Cards);
    }
  }

  /** Not each of the many rounds comes upon the moment in which the first reading ends. */
  @Test
  void whoAsksAgainAfterTheFirstReadingGetsAReadingThatBeginsAfterwards() throws IOException {
    card.readings.release(1_000_000);
    InventoryReader reader = reader(library -> card);
    Path library = root.resolve("usr/lib64/libnvidia-ml.so.580.1");
    for (int round = 0; round < 200; round++) {
      try (NodeInventory inventory = new NodeInventory(reader, told -> {})) {
        assertThat(inventory.refresh()).isInstanceOf(Inventory.Cards.class);
        Files.delete(library);
        assertThat(inventory.refresh()).as("round %d", round).isInstanceOf(Inventory.NoCards.class);
        Files.createFile(library);
      }
    }
  }

  @Test
  void aListenerThatTakesLongKeepsNobodyFromFreshCards() throws IOException {
    card.readings.release(1_000_000);
    Semaphore listening = new Semaphore(0);
    try (NodeInventory inventory = inventory(state -> listening.acquireUninterruptibly(), Duration.ofMinutes(1))) {
      inventory.start(Duration.ofMillis(10));
      await().atMost(SOON).until(listening::hasQueuedThreads);
      assertThat(inventory.refresh()).isInstanceOf(Inventory.Cards.class);
      listening.release(1_000_000);
    }
  }

  @Test
  void aWaitForWhatIsKnownOfTheCardsFromBeforeIsNoSilenceOfNvml() throws IOException {
    card.readings.release(1_000_000);
    Semaphore known = new Semaphore(0);
    Queue<Inventory> told = new ConcurrentLinkedQueue<>();
    try (NodeInventory inventory = inventory(known::acquireUninterruptibly, told::add, Duration.ofMillis(100))) {
      inventory.start(Duration.ofMillis(10));
      await().atMost(SOON).until(known::hasQueuedThreads);
      assertThat(inventory.refresh()).as("it waits for longer than NVML may take")
          .isInstanceOf(Inventory.NoCards.class);
      assertThat(inventory.state()).isEmpty();
      known.release();
      await().atMost(SOON).until(() -> !told.isEmpty());
      assertThat(told).allSatisfy(state -> assertThat(state).isInstanceOf(Inventory.Cards.class));
    }
  }

  @Test
  void aCardThatHasNotAnsweredSinceTheStartIsAskedForByANewInit() throws IOException {
    card.faults.add(new CardReading.Fault(1, NvmlException.GPU_IS_LOST, "GPU is lost"));
    StuckCard back = new StuckCard();
    back.listed.add("GPU-1");
    Queue<StuckCard> inits = new ConcurrentLinkedQueue<>(List.of(card, back));
    card.readings.release(2);
    back.readings.release(2);
    InventoryReader reader = reader(library -> Objects.requireNonNull(inits.poll()));
    assertThat(((Inventory.Cards) reader.read()).gpus()).hasSize(1);
    assertThat(((Inventory.Cards) reader.read()).gpus()).extracting("uuid").containsExactly("GPU-0", "GPU-1");
    reader.close();
  }

  @Test
  void aDriverThatListsNoneOfTheCardsOnTheBusHasFailedUntilItListsThemByANewInit() throws IOException {
    onBus("0000:18:00.0");
    onBus("0000:19:00.0");
    StuckCard none = new StuckCard();
    none.listed.clear();
    none.readings.release();
    card.readings.release();
    Queue<StuckCard> inits = new ConcurrentLinkedQueue<>(List.of(none, card));
    try (InventoryReader reader = reader(library -> Objects.requireNonNull(inits.poll()))) {
      assertThat(reader.read()).isEqualTo(new Inventory.NoCards(NodeReason.NvmlFailed,
          "cards of NVIDIA's on the node's PCI bus: 2; the driver 580.1 lists none of them; "
              + "see dmesg and nvidia-smi on the node"));
      assertThat(reader.read()).isInstanceOf(Inventory.Cards.class);
    }
  }

  @Test
  void aDriverOfWhoseCardsNoneHasAnsweredSinceTheStartHasFailed() throws IOException {
    card.listed.clear();
    card.faults.add(new CardReading.Fault(0, NvmlException.GPU_IS_LOST, "GPU is lost"));
    card.faults.add(new CardReading.Fault(1, NvmlException.GPU_IS_LOST, "GPU is lost"));
    card.readings.release();
    try (InventoryReader reader = reader(library -> card)) {
      assertThat(reader.read()).isEqualTo(new Inventory.NoCards(NodeReason.NvmlFailed,
          "none of the cards that the driver 580.1 lists answers: GPU is lost; see dmesg and nvidia-smi on the node"));
    }
  }

  @Test
  void aDriverThatListsNoneHasNotFailedWhereNoneIsOnTheBusOrTheBusIsNotSeen() throws IOException {
    card.listed.clear();
    card.readings.release(2);
    try (InventoryReader reader = reader(library -> card)) {
      assertThat(reader.read()).as("nobody sees the bus").isInstanceOf(Inventory.Cards.class);
      Files.createDirectories(root.resolve("sys/bus/pci/devices"));
      assertThat(reader.read()).isInstanceOf(Inventory.Cards.class);
    }
  }

  @Test
  void cardsThatTheDriverHasListedAreKnownAsLostWhenItListsNoneAnyMore() throws IOException {
    onBus("0000:18:00.0");
    card.readings.release(2);
    try (InventoryReader reader = reader(library -> card)) {
      reader.read();
      card.listed.clear();
      assertThat(((Inventory.Cards) reader.read()).gpus()).extracting(gpu -> gpu.health().reason())
          .containsExactly("GpuIsLost");
    }
  }

  private void onBus(String busId) throws IOException {
    Path device = Files.createDirectories(root.resolve("sys/bus/pci/devices").resolve(busId));
    Files.writeString(device.resolve("vendor"), "0x10de\n");
    Files.writeString(device.resolve("class"), "0x030200\n");
  }

  private NodeInventory inventory(Consumer<Inventory> listener, Duration patience) throws IOException {
    return inventory(() -> {}, listener, patience);
  }

  private NodeInventory inventory(Runnable beforeFirst, Consumer<Inventory> listener, Duration patience)
      throws IOException {
    return new NodeInventory(reader(library -> card), beforeFirst, listener,
        new NodeInventory.Patience(patience, patience),
        new Loops());
  }

  private InventoryReader reader(InventoryReader.Opener opener) throws IOException {
    Path libraries = Files.createDirectories(root.resolve("usr/lib64"));
    Files.createFile(libraries.resolve("libcuda.so.580.1"));
    Files.createFile(libraries.resolve("libnvidia-ml.so.580.1"));
    return new InventoryReader(new DriverRoot(root, "/"), root.resolve("sys"), opener,
        new CardPolicy(new Reserve.Amount(0), false, true));
  }

  /** Each reading waits until it may end. */
  private static final class StuckCard implements CardReader {
    final Semaphore readings = new Semaphore(0);
    final List<String> listed = new ArrayList<>(List.of("GPU-0")); // UUIDs
    final List<CardReading.Fault> faults = new ArrayList<>();

    @Override
    public CardReading read() {
      readings.acquireUninterruptibly();
      List<CardReading.Card> cards = new ArrayList<>();
      listed.forEach(uuid -> cards.add(card(cards.size(), uuid)));
      return new CardReading("580.1", Optional.of("13.0"), cards, faults);
    }

    private static CardReading.Card card(int index, String uuid) {
      return new CardReading.Card(
          index, uuid, index, GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"),
          new CardReading.Memory(141L << 30, 0),
          new CardReading.Topology(Optional.empty(), Optional.empty(), CardReading.Nvlink.NONE),
          CardReading.Mig.NONE, false, CardSigns.WELL);
    }

    @Override
    public Map<String, List<ProcessMemory>> processes() {
      return Map.of();
    }

    @Override
    public OptionalLong memoryLimit(String card, Path cgroup) {
      return OptionalLong.empty();
    }

    @Override
    public void limitMemory(String card, Path cgroup, long bytes) {}

    @Override
    public List<CardUser> users(String card) {
      return List.of();
    }

    @Override
    public Map<String, Map<CardFigure, Double>> figures() {
      return Map.of();
    }

    @Override
    public List<ProcessSample> samples(String uuid, long newerThan) {
      return List.of();
    }

    @Override
    public Optional<XidEvent> awaitXid(Duration atMost) {
      return Optional.empty();
    }

    @Override
    public MigState mig(String card) throws NvmlException {
      throw new NvmlException("nvmlDeviceGetMigMode", NvmlException.NOT_SUPPORTED, "not supported");
    }

    @Override
    public void switchMig(String card, boolean on) {}

    @Override
    public void makeInstance(String card, String profile, int start) {}

    @Override
    public void endInstance(String card, int gpuInstance) {}

    @Override
    public void close() {}
  }
}
