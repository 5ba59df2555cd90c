package dev.partita.api.device;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.device.DeviceAttribute.Scope;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.OpaqueKind;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNodeStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceAttributeTest {
  private static final Gpu CARD = card("NVIDIA H200", 1);
  private static final Gpu BARE =
      new Gpu(0, 0, "GPU-0", new GpuProduct("", "gpu", "", "", "unknown"), 1, new GpuTopology("", null, null, null),
          GpuHealth.HEALTHY);

  private static final GpuNodeStatus STATUS =
      new GpuNodeStatus(1, "", "580.95.05", "13.0", null, null, List.of(), List.of());

  @Test
  void aWholeCardHasAllButThoseOfInstances() {
    assertThat(of(CARD, new DeviceName.Whole(3), null)).containsExactlyInAnyOrderEntriesOf(
        Map.ofEntries(
            Map.entry("type", "gpu"),
            Map.entry("mode", "whole"),
            Map.entry("uuid", "GPU-3"),
            Map.entry("productName", "NVIDIA H200"),
            Map.entry("model", "h200"),
            Map.entry("brand", "Nvidia"),
            Map.entry("architecture", "Hopper"),
            Map.entry("cudaComputeCapability", "9.0.0"),
            Map.entry("driverVersion", "580.95.5"),
            Map.entry("cudaDriverVersion", "13.0.0"),
            Map.entry("index", "3"),
            Map.entry("minor", "4"),
            Map.entry("pciBusID", "0000:03:00.0"),
            Map.entry("resource.kubernetes.io/pcieRoot", "pci0000:03"),
            Map.entry("resource.kubernetes.io/numaNode", "1"),
            Map.entry("nvlinkDomain", "nvl")));
  }

  @Test
  void anInstanceSaysItsProfileAndPlaceAsWell() {
    MigProfile profile = new MigProfile("1g.18gb", 18L << 30, 16, 1, 7, List.of());
    assertThat(of(CARD, new DeviceName.Mig(3, new MigSlot("1g-18gb", 5)), profile))
        .containsEntry("type", "mig").containsEntry("mode", "mig")
        .containsEntry("profile", "1g.18gb").containsEntry("placement", "5")
        .containsEntry("uuid", "GPU-3").doesNotContainKey("instanceUUID");
  }

  @Test
  void anInstanceThatSomebodyElseMadeHasItsUuidBeforeItIsClaimed() {
    MigProfile profile = new MigProfile("1g.18gb", 18L << 30, 16, 1, 7, List.of());
    Gpu cut = CARD.withStaticMigInstances(
        List.of(new StaticMigInstance("MIG-5", "1g.18gb", new MigProfile.Placement(5, 1))));
    assertThat(of(cut, new DeviceName.Mig(3, new MigSlot("1g-18gb", 5)), profile))
        .containsEntry("uuid", "GPU-3").containsEntry("instanceUUID", "MIG-5");
    assertThat(of(cut, new DeviceName.Mig(3, new MigSlot("1g-18gb", 4)), profile)).doesNotContainKey("instanceUUID");
    assertThat(of(cut, new DeviceName.MigShared(3, new MigSlot("1g-18gb", 5)), profile))
        .as("to take shares of").containsEntry("type", "mig").containsEntry("mode", "mig-shared")
        .containsEntry("profile", "1g.18gb").containsEntry("placement", "5").containsEntry("uuid", "GPU-3")
        .containsEntry("instanceUUID", "MIG-5");
  }

  @Test
  void whatACardDoesNotSayIsNoAttributeOfIt() {
    assertThat(of(BARE, new DeviceName.Shared(0), null)).containsOnlyKeys("type", "mode", "uuid", "model",
        "driverVersion", "cudaDriverVersion", "index", "minor");
  }

  @Test
  void anOpaqueCardHasAModeOfItsOwnAndNothingOfTheDriver() {
    Gpu opaque =
        new Gpu(100, -1, "OPAQUE-1", new GpuProduct("Accelerator 9", "accelerator-9", "Acme", "", ""), 8L << 30,
            GpuTopology.UNKNOWN, GpuHealth.HEALTHY).asOpaque(new OpaqueKind("Acme", "a9-1"));
    assertThat(of(opaque, new DeviceName.Opaque(100), null)).containsExactlyInAnyOrderEntriesOf(
        Map.of("type", "opaque", "mode", "opaque", "uuid", "OPAQUE-1", "productName", "Accelerator 9", "model",
            "accelerator-9", "vendor", "Acme", "serial", "a9-1", "brand", "Acme", "index", "100"));
  }

  @Test
  void aTextIsCutToWhatASliceTakes() {
    assertThat(of(card("x".repeat(65), 1), new DeviceName.Whole(3), null))
        .containsEntry("productName", "x".repeat(64));
  }

  @Test
  void namesHaveTheDriversDomainWhereNoneIsWritten() {
    assertThat(DeviceAttribute.UUID.qualifiedName()).isEqualTo("gpu.partita.dev/uuid");
    assertThat(DeviceAttribute.NUMA_NODE.qualifiedName()).isEqualTo("resource.kubernetes.io/numaNode");
    assertThat(DeviceAttribute.NUMA_NODE.identifier()).isEqualTo("numaNode");
    assertThat(DeviceAttribute.values()).extracting(DeviceAttribute::identifier).doesNotHaveDuplicates();
  }

  @Test
  void scopesAreThoseByWhichCardsAreJudgedTogether() {
    assertThat(DeviceAttribute.identifiersOf(Scope.POSITION)).containsExactlyInAnyOrder("index", "minor", "numaNode");
    assertThat(DeviceAttribute.identifiersOf(Scope.CARD))
        .containsExactlyInAnyOrder("uuid", "serial", "pciBusID", "pcieRoot", "nvlinkDomain",
            "instanceUUID");
    assertThat(DeviceAttribute.of(Scope.values())).containsExactly(DeviceAttribute.values());
  }

  /** One that differs all the same makes every card its own kind, and each decision slow. */
  @Test
  void anAttributeOfTheKindIsTheSameForTwoCardsOfAModelAndOneOfThePositionForTwoAtTheSamePlace() {
    Gpu elsewhere =
        new Gpu(6, 7, "GPU-6", new GpuProduct("NVIDIA H200", "h200", "Nvidia", "Hopper", "9.0"), 140L << 30,
            new GpuTopology("0000:06:00.0", "pci0000:06", 0, "other"), GpuHealth.unhealthy("GpuIsLost", "gone"));
    Gpu samePlace =
        new Gpu(3, 4, "GPU-other", new GpuProduct("NVIDIA H200", "h200", "Nvidia", "Hopper", "9.0"), 140L << 30,
            new GpuTopology("0001:03:00.0", "pci0001:03", 1, "other"), GpuHealth.HEALTHY);
    assertThat(values(Scope.KIND, elsewhere)).isEqualTo(values(Scope.KIND, CARD));
    assertThat(values(Scope.POSITION, samePlace)).isEqualTo(values(Scope.POSITION, CARD))
        .isNotEqualTo(values(Scope.POSITION, elsewhere));
    assertThat(values(Scope.CARD, samePlace).stream().flatMap(Optional::stream))
        .doesNotContainAnyElementsOf(values(Scope.CARD, CARD).stream().flatMap(Optional::stream).toList());
  }

  private static List<Optional<AttributeValue>> values(Scope scope, Gpu card) {
    DeviceAttribute.Source source =
        new DeviceAttribute.Source(STATUS, card, new DeviceName.Whole(card.index()), Optional.empty());
    return DeviceAttribute.of(scope).stream().map(attribute -> attribute.read(source)).toList();
  }

  private static Map<String, String> of(Gpu card, DeviceName name, @Nullable MigProfile profile) {
    DeviceAttribute.Source source =
        new DeviceAttribute.Source(STATUS, card, name, Optional.ofNullable(profile));
    Map<String, String> values = new TreeMap<>();
    DeviceAttribute.allOf(source).forEach((key, value) -> values.put(key, value.toString()));
    return values;
  }

  private static Gpu card(String product, int numa) {
    return new Gpu(3, 4, "GPU-3", new GpuProduct(product, "h200", "Nvidia", "Hopper", "9.0"), 140L << 30,
        new GpuTopology("0000:03:00.0", "pci0000:03", numa, "nvl"), GpuHealth.HEALTHY);
  }
}
