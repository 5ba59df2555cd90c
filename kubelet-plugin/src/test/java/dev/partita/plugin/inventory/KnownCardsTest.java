package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.partita.api.MigSlot;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.NvlinkPeer;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.nvml.CardReading.Card;
import dev.partita.plugin.nvml.CardReading.Fault;
import dev.partita.plugin.nvml.CardReading.Nvlink;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns.Recovery;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.MigControl.ComputeInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnownCardsTest {
  private static final CardPolicy POLICY = new CardPolicy(new Reserve.Amount(0), false, true);

  private static final PciTopology NOWHERE = new PciTopology(Path.of("/nonexistent"));

  @Test
  void aCardKeepsItsIndexWhenAnotherFallsOffTheBusAndComesBack() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a"), card(1, "b"), card(2, "c")), NOWHERE);
    List<Gpu> without = known.update(reading(card(0, "a"), card(1, "c")), NOWHERE);
    assertThat(without)
        .extracting(Gpu::index, Gpu::uuid, gpu -> gpu.health().reason())
        .containsExactly(tuple(0, "a", null), tuple(1, "b", "GpuIsLost"), tuple(2, "c", null));
    assertThat(without.get(1).health().message()).contains("NVML no longer lists it");
    assertThat(known.update(reading(card(0, "a"), card(1, "b"), card(2, "c")), NOWHERE))
        .allMatch(gpu -> gpu.health().reason() == null);
  }

  @Test
  void aRestartKeepsTheIndexesThatWereReported() {
    KnownCards before = new KnownCards(POLICY);
    List<Gpu> reported = before.update(reading(card(0, "a"), card(1, "b")), NOWHERE);
    KnownCards after = new KnownCards(POLICY);
    after.remember(reported);
    assertThat(after.update(reading(card(0, "b"), card(1, "new")), NOWHERE))
        .extracting(Gpu::uuid, Gpu::index)
        .containsExactly(tuple("b", 1), tuple("new", 2));
  }

  @Test
  void aCardOfAPreparedClaimKeepsItsIndexWhenTheReportsAreNotKnown() {
    KnownCards known = new KnownCards(POLICY);
    known.remember("b", 1);
    assertThat(known.update(reading(card(0, "b"), card(1, "c")), NOWHERE)).extracting(Gpu::uuid, Gpu::index)
        .containsExactly(tuple("b", 1), tuple("c", 2));
  }

  @Test
  void anIndexThatAnotherCardWasReportedWithSinceIsThatCards() {
    KnownCards before = new KnownCards(POLICY);
    KnownCards after = new KnownCards(POLICY);
    after.remember(before.update(reading(card(0, "new")), NOWHERE));
    after.remember("replaced", 0);
    assertThat(after.update(reading(card(0, "new"), card(1, "replaced")), NOWHERE))
        .extracting(Gpu::uuid, Gpu::index)
        .containsExactly(tuple("new", 0), tuple("replaced", 1));
  }

  @Test
  void aCardThatIsGoneHasNoDeviceNodeOnceAnotherHasItsNumber() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a"), card(1, "b"), card(2, "c")), NOWHERE);
    assertThat(nodes(known.update(reading(card(0, "a"), card(2, "c")), NOWHERE))).as("b has its own still")
        .containsExactly(true, true, true);
    assertThat(nodes(known.update(reading(card(0, "a"), card(1, "c")), NOWHERE))).as("the driver was loaded anew")
        .containsExactly(true, false, true);
    assertThat(nodes(known.update(reading(card(0, "a"), card(1, "b"), card(2, "c")), NOWHERE))).containsExactly(true,
        true, true);
  }

  @Test
  void aCardThatMustBeResetSaysSo() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a")), NOWHERE);
    CardReading reading =
        new CardReading("580", Optional.empty(), List.of(),
            List.of(new Fault(0, NvmlException.RESET_REQUIRED, "reset it")));
    assertThat(known.update(reading, NOWHERE).getFirst().health().reason()).isEqualTo("GpuResetRequired");
  }

  @Test
  void afterAFatalErrorACardIsUnhealthyUntilItHasGoneAndComeBack() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a"), card(1, "b")), NOWHERE);
    assertThat(known.blame(new XidEvent("b", 95))).isTrue();
    assertThat(known.blame(new XidEvent("b", 95))).isFalse();
    for (int i = 0; i < 2; i++) {
      assertThat(known.update(reading(card(0, "a"), card(1, "b")), NOWHERE)).extracting(gpu -> gpu.health().reason())
          .containsExactly(null, "XID 95");
    }
    List<Gpu> gone = known.update(reading(card(0, "a")), NOWHERE);
    assertThat(gone.get(1).health().reason()).isEqualTo("XID 95");
    assertThat(gone.get(1).health().message()).contains("XID 95", "does not answer");
    assertThat(known.update(reading(card(0, "a"), card(1, "b")), NOWHERE))
        .allMatch(gpu -> gpu.health().reason() == null);
    assertThat(known.blame(new XidEvent("b", 95))).isTrue();
  }

  @Test
  void anErrorThatIsHeardOfWhenTheCardHasGoneEndsWhenItComesBack() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a")), NOWHERE);
    known.update(reading(), NOWHERE);
    assertThat(known.blame(new XidEvent("a", 79))).isTrue();
    assertThat(known.blame(new XidEvent("a", 79))).isFalse();
    assertThat(known.update(reading(card(0, "a")), NOWHERE).getFirst().health().reason()).isNull();
    assertThat(known.blame(new XidEvent("a", 48))).isTrue();
    assertThat(known.update(reading(card(0, "a")), NOWHERE).getFirst().health().reason()).isEqualTo("XID 48");
  }

  @Test
  void aDriverThatWasLoadedAnewHasResetItsCards() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a")), NOWHERE);
    known.blame(new XidEvent("a", 119));
    known.gone();
    assertThat(known.update(reading(card(0, "a")), NOWHERE)).allMatch(gpu -> gpu.health().reason() == null);
  }

  @Test
  void aCardThatTheDriverWantsResetIsUnhealthyWhoeverHeardTheErrorUntilItAsksForNothing() {
    KnownCards before = new KnownCards(POLICY);
    before.update(reading(asking("a", Recovery.NONE)), NOWHERE);
    before.blame(new XidEvent("a", 95));
    Gpu heard = before.update(reading(asking("a", Recovery.RESET)), NOWHERE).getFirst();
    assertThat(heard.health().reason()).isEqualTo("XID 95");
    assertThat(heard.health().message()).contains("XID 95", "the driver asks for a reset of the card");

    KnownCards after = new KnownCards(POLICY);
    assertThat(after.update(reading(asking("a", Recovery.RESET)), NOWHERE).getFirst().health().reason())
        .isEqualTo("GpuResetRequired");
    for (KnownCards known : List.of(before, after)) {
      assertThat(known.update(reading(asking("a", Recovery.NONE)), NOWHERE).getFirst().health())
          .isEqualTo(GpuHealth.HEALTHY);
    }
  }

  @Test
  void anErrorThatIsOverLeavesWhatElseIsWrongWithItsCard() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(card(0, "a", errors(Recovery.NONE))), NOWHERE);
    known.blame(new XidEvent("a", 95));
    known.update(reading(card(0, "a", errors(Recovery.RESET))), NOWHERE);
    assertThat(known.update(reading(card(0, "a", errors(Recovery.NONE))), NOWHERE).getFirst().health().reason())
        .isEqualTo("UncorrectableEccErrors");
  }

  @Test
  void instancesThatWereMadeForNoClaimAreSomebodyElses() {
    KnownCards known = new KnownCards(POLICY);
    Card cut = cut("a", instance(1, 0, true), instance(2, 1, true), instance(3, 2, false));
    ClaimedInstances claimed = new ClaimedInstances(Map.of("a", Set.of(new MigSlot("1g-10gb", 1))), Map.of(), Set.of());
    Gpu gpu = known.update(reading(cut), NOWHERE, Optional.of(claimed)).getFirst();
    assertThat(gpu.staticMigInstances())
        .containsExactly(new StaticMigInstance("MIG-1", "1g.10gb", new MigProfile.Placement(0, 1)));
    assertThat(gpu.health()).as("its MIG mode is on, and it is of use").isEqualTo(GpuHealth.HEALTHY);
    assertThat(gpu.migProfiles()).as("which say how large they are").containsExactly(PROFILE);
  }

  @Test
  void oneThatIsGoneIsListedAsUnhealthyAsLongAsAClaimHasIt() {
    KnownCards known = new KnownCards(POLICY);
    MigInstance given = new MigInstance("1g.10gb", 0, 1, 10L << 30);
    ClaimedInstances claimed = new ClaimedInstances(Map.of(), Map.of("a", List.of(given)), Set.of());
    Card whole = cut("a", instance(1, 0, true), instance(2, 1, true));
    assertThat(known.update(reading(whole), NOWHERE, Optional.of(claimed)).getFirst().staticMigInstances())
        .hasSize(2).allMatch(StaticMigInstance::isHealthy);
    Gpu without = known.update(reading(cut("a")), NOWHERE, Optional.of(claimed)).getFirst();
    assertThat(without.staticMigInstances()).singleElement().satisfies(gone -> {
      assertThat(gone.slot()).hasValue(new MigSlot("1g-10gb", 0));
      assertThat(gone.health()).extracting(GpuHealth::reason).isEqualTo("MigInstanceIsGone");
    });
    assertThat(without.health()).as("the card").isEqualTo(GpuHealth.HEALTHY);
    Gpu released = known.update(reading(cut("a")), NOWHERE, Optional.of(ClaimedInstances.NONE)).getFirst();
    assertThat(released.staticMigInstances()).isEmpty();
    assertThat(released.migProfiles()).as("the plugin makes none").isEmpty();
    assertThat(released.health().reason()).isEqualTo("MigModeIsOn");
  }

  @Test
  void whereNobodyCanTellWhoseInstancesAreThoseThatWereKnownStay() {
    KnownCards known = new KnownCards(POLICY);
    known.update(reading(cut("a", instance(1, 0, true))), NOWHERE, Optional.of(ClaimedInstances.NONE));
    Card more = cut("a", instance(1, 0, true), instance(2, 1, true));
    Card silent = withMig("a", new CardReading.Mig(List.of(PROFILE), true, Optional.empty()));
    ClaimedInstances unknown = new ClaimedInstances(Map.of(), Map.of(), Set.of("a"));
    for (Gpu gpu : List.of(known.update(reading(more), NOWHERE, Optional.empty()).getFirst(),
        known.update(reading(more), NOWHERE, Optional.of(unknown)).getFirst(),
        known.update(reading(silent), NOWHERE, Optional.of(ClaimedInstances.NONE)).getFirst())) {
      assertThat(gpu.staticMigInstances()).extracting(StaticMigInstance::uuid).containsExactly("MIG-1");
    }
    assertThat(known.update(reading(more), NOWHERE, Optional.of(ClaimedInstances.NONE)).getFirst()
        .staticMigInstances()).hasSize(2);
  }

  @Test
  void aCardWithNothingButInstancesThatAreNotWholeIsOfNoUseToAPluginThatCutsCardsEither() {
    KnownCards known = new KnownCards(new CardPolicy(new Reserve.Amount(0), true, true));
    assertThat(known.update(reading(cut("a", instance(1, 0, false))), NOWHERE).getFirst().health().reason())
        .isEqualTo("MigModeIsOn");
    assertThat(known.update(reading(cut("a")), NOWHERE).getFirst().health()).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void anInstanceThatWasMadeAtEitherOfTwoTimesIsPartitas() {
    MigSlot one = new MigSlot("1g-10gb", 0);
    MigSlot other = new MigSlot("1g-10gb", 1);
    ClaimedInstances before = new ClaimedInstances(Map.of("a", Set.of(one)), Map.of(), Set.of("b"));
    ClaimedInstances after = new ClaimedInstances(Map.of("a", Set.of(other)), Map.of(), Set.of());
    assertThat(before.orLater(after).madeOf("a")).containsExactlyInAnyOrder(one, other);
    assertThat(before.orLater(after).areKnownOf("b")).isFalse();
  }

  private static final MigProfile PROFILE =
      new MigProfile("1g.10gb", 10L << 30, 14, 1, 7,
          List.of(new MigProfile.Placement(0, 1), new MigProfile.Placement(1, 1), new MigProfile.Placement(2, 1)));

  private static GpuInstance instance(int id, int start, boolean whole) {
    return new GpuInstance(id, "1g.10gb", start, 1, List.of(new ComputeInstance(0, whole, "MIG-" + id)));
  }

  private static Card cut(String uuid, GpuInstance... instances) {
    return withMig(uuid, new CardReading.Mig(List.of(PROFILE), true, Optional.of(List.of(instances))));
  }

  @Test
  void linksAndSwitchesMakeDomains() {
    Card lone = card(0, "a");
    Card left = card(1, "b", new Nvlink(Optional.empty(), false, List.of("bus-2")));
    Card right = card(2, "c");
    Card switched = card(3, "d", new Nvlink(Optional.empty(), true, List.of()));
    Card switchedToo = card(4, "e", new Nvlink(Optional.empty(), true, List.of()));
    Card fabric = card(5, "f", new Nvlink(Optional.of("cluster.1"), true, List.of()));
    assertThat(NvlinkDomains.of(List.of(lone, left, right)))
        .containsOnly(java.util.Map.entry("b", "b"), java.util.Map.entry("c", "b"));
    assertThat(NvlinkDomains.of(List.of(switchedToo, switched, lone)))
        .containsOnly(java.util.Map.entry("d", "d"), java.util.Map.entry("e", "d"));
    assertThat(NvlinkDomains.of(List.of(fabric))).containsOnly(java.util.Map.entry("f", "cluster.1"));
    assertThat(NvlinkDomains.of(List.of(switched))).isEmpty();
  }

  @Test
  void linksToOtherCardsAreCountedByTheIndexOfTheCardAtTheirEnd() {
    KnownCards known = new KnownCards(POLICY);
    Card left = card(0, "a", new Nvlink(Optional.empty(), false, List.of("bus-2", "bus-1", "bus-2", "bus-9")));
    List<Gpu> gpus = known.update(reading(left, card(1, "b"), card(2, "c")), NOWHERE);
    assertThat(gpus.getFirst().nvlinkPeers()).as("a card that does not answer has no index")
        .containsExactly(new NvlinkPeer(1, 1), new NvlinkPeer(2, 2));
    assertThat(gpus.getLast().nvlinkPeers()).isEmpty();
  }

  @Test
  void sysfsTellsWhereACardIs(@TempDir Path sysfs) throws Exception {
    Path device = Files.createDirectories(sysfs.resolve("devices/pci0000:17/0000:17:01.0/0000:18:00.0"));
    Files.writeString(device.resolve("numa_node"), "1\n");
    Path devices = Files.createDirectories(sysfs.resolve("bus/pci/devices"));
    Files.createSymbolicLink(
        devices.resolve("0000:18:00.0"), Path.of("../../../devices/pci0000:17/0000:17:01.0/0000:18:00.0"));
    PciTopology topology = new PciTopology(sysfs);
    assertThat(topology.pcieRoot("0000:18:00.0")).contains("pci0000:17");
    assertThat(topology.numaNode("0000:18:00.0")).contains(1);
    Files.writeString(device.resolve("numa_node"), "-1\n");
    assertThat(topology.numaNode("0000:18:00.0")).isEmpty();
    assertThat(topology.pcieRoot("0000:19:00.0")).isEmpty();
  }

  @Test
  void theBusTellsWhetherANodeHasCardsThatNoDriverHas(@TempDir Path sysfs) throws Exception {
    PciTopology topology = new PciTopology(sysfs);
    assertThat(topology.nvidiaCards()).as("nobody sees the bus").isEmpty();
    Files.createDirectories(sysfs.resolve("bus"));
    assertThat(topology.nvidiaCards()).as("there is no PCI bus").hasValue(0);
    onBus(sysfs, "0000:00:02.0", "0x8086", "0x030000");
    onBus(sysfs, "0000:05:00.0", "0x10de", "0x068000"); // an NVSwitch
    onBus(sysfs, "0000:06:00.1", "0x10de", "0x040300"); // the sound of a card with an output
    assertThat(topology.nvidiaCards()).hasValue(0);
    onBus(sysfs, "0000:06:00.0", "0x10de", "0x030000");
    onBus(sysfs, "0000:18:00.0", "0x10de", "0x030200");
    assertThat(topology.nvidiaCards()).hasValue(2);
    Files.createSymbolicLink(sysfs.resolve("bus/pci/devices/0000:18:00.0/driver"),
        Path.of("../../../../bus/pci/drivers/nvidia"));
    assertThat(topology.nvidiaCards()).hasValue(2);
    Files.createDirectories(sysfs.resolve("bus/pci/devices/0000:19:00.0"));
    assertThat(topology.nvidiaCards()).as("one says nothing of itself").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"vfio-pci", "nvgrace_gpu_vfio_pci", "pci-stub", "xen-pciback"})
  void aCardThatAVirtualMachineHasIsNotOneForTheDriver(String driver, @TempDir Path sysfs) throws Exception {
    onBus(sysfs, "0000:18:00.0", "0x10de", "0x030200");
    onBus(sysfs, "0000:19:00.0", "0x10de", "0x030200");
    Files.createSymbolicLink(sysfs.resolve("bus/pci/devices/0000:19:00.0/driver"),
        Path.of("../../../../bus/pci/drivers").resolve(driver));
    assertThat(new PciTopology(sysfs).nvidiaCards()).hasValue(1);
  }

  private static void onBus(Path sysfs, String busId, String vendor, String kind) throws IOException {
    Path device = Files.createDirectories(sysfs.resolve("bus/pci/devices").resolve(busId));
    Files.writeString(device.resolve("vendor"), vendor + "\n");
    Files.writeString(device.resolve("class"), kind + "\n");
  }

  /** By index: whether the card has a device node of its own. */
  private static List<Boolean> nodes(List<Gpu> gpus) {
    DriverFiles files =
        new DriverFiles("580", "/usr/lib64", List.of(), List.of(), List.of(), List.of(), new TreeMap<>());
    Inventory.Cards cards = new Inventory.Cards(files, "580", Optional.empty(), gpus);
    return gpus.stream().map(cards::hasNode).toList();
  }

  private static CardReading reading(Card... cards) {
    return new CardReading("580.95.05", Optional.of("13.0"), List.of(cards), List.of());
  }

  private static Card card(int index, String uuid) {
    return card(index, uuid, Nvlink.NONE);
  }

  private static Card asking(String uuid, Recovery recovery) {
    return card(0, uuid, new CardSigns(0, 0, CardSigns.Rows.GOOD, CardSigns.Fabric.NONE, Set.of(), recovery));
  }

  private static CardSigns errors(Recovery recovery) {
    return new CardSigns(1, 0, CardSigns.Rows.GOOD, CardSigns.Fabric.NONE, Set.of(), recovery);
  }

  private static Card card(int index, String uuid, Nvlink nvlink) {
    return card(index, uuid, nvlink, CardSigns.WELL);
  }

  private static Card card(int index, String uuid, CardSigns signs) {
    return card(index, uuid, Nvlink.NONE, signs);
  }

  private static Card card(int index, String uuid, Nvlink nvlink, CardSigns signs) {
    return new Card(
        index, uuid, index, GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"),
        new CardReading.Memory(1L << 37, 0),
        new CardReading.Topology(Optional.of("bus-" + index), Optional.empty(), nvlink), CardReading.Mig.NONE,
        false, signs);
  }

  private static Card withMig(String uuid, CardReading.Mig mig) {
    Card card = card(0, uuid);
    return new Card(card.index(), card.uuid(), card.minor(), card.product(), card.memory(), card.topology(), mig,
        card.limitsMemory(), card.signs());
  }
}
