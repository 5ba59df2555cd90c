package dev.partita.plugin.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MemoryEnforcement;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.diagnosis.FlapFile;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.inventory.CardPolicy;
import dev.partita.plugin.inventory.ClaimedInstances;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.opaque.TestCardFiles;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Claims of cards that a file on the node lists. */
class OpaqueCardOfClaimTest extends OnNodeOfPlugins {
  private static final String CARDS = """
      - {vendor: Acme, productName: Accelerator 9, serial: a9-1, memory: 16Gi, deviceNodes: [/dev/null],
         env: [ACME=1], mounts: [/opt/acme], cdiDevices: ['acme.com/gpu=0']}
      """;

  @BeforeEach
  void listTheCard() throws IOException {
    TestCardFiles.write(node.root, CARDS);
  }

  @Test
  void aContainerGetsWhatTheFileSaysAndItsShareInVariablesAndNothingOfTheDriver() throws IOException {
    ResourceClaim claim = node.newClaim(share("a", "8Gi", "25"));
    assertThat(node.prepare(claim)).isInstanceOfSatisfying(ClaimService.Ready.class, ready -> assertThat(
        ready.devices()).singleElement()
        .satisfies(device -> assertThat(device.cdiIds()).hasSize(2).last().isEqualTo("acme.com/gpu=0")));
    assertThat(node.files("cdi").getFirst()).content()
        .contains("\"/dev/null\"", "ACME=1", "/opt/acme", "PARTITA_CARD_100_MEMORY=8589934592",
            "PARTITA_CARD_100_CORES=25", "PARTITA_CARD_100_SERIAL=a9-1", "PARTITA_CARD_100_UUID=OPAQUE-")
        .doesNotContain("libcuda", "nvidia0", "/etc/partita/shares", "/run/partita/shares", "hooks");
    assertThat(node.files("state/shares")).isEmpty();
    assertThat(node.files("run/shares")).isEmpty();
    assertThat(node.files("opt")).as("libraries").isEmpty();
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void moreThanTheCardHasIsNotPrepared() throws IOException {
    ResourceClaim first = node.newClaim(share("a", "10Gi", ""));
    assertThat(node.prepare(first)).isInstanceOf(ClaimService.Ready.class);
    ResourceClaim second = node.newClaim(share("b", "7Gi", ""));
    assertThat(refusal(second)).contains("its shares would hold " + (17L << 30));
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.prepare(second)).isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void theSameClaimIsPreparedAgainAfterAReboot() throws IOException {
    ResourceClaim claim = node.newClaim(share("a", "8Gi", ""));
    ClaimService.Outcome first = node.prepare(claim);
    node.bootId = "next boot";
    Files.delete(node.files("cdi").getFirst());
    assertThat(node.prepare(claim)).isEqualTo(first);
    assertThat(node.files("cdi")).hasSize(1);
  }

  @Test
  void whatNothingCanHoldIsRefused() throws IOException {
    for (Map<String, Object> config : List.<Map<String, Object>>of(Map.of("oversubscribe", 150),
        Map.of("memoryLimit", "12Gi"), Map.of("coreLimit", "Soft"), Map.of("sharing", Map.of("strategy", "MPS")),
        Map.of("placement", Map.of("exclusive", true)))) {
      assertThat(refusal(node.newClaim(List.of(TestClaims.config("FromClaim", List.of(), Map.of("apiVersion",
          "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig", config.keySet().iterator().next(),
          config.values().iterator().next()))), share("a", "8Gi", ""))))
          .as("%s", config).contains("nothing does on an opaque card");
    }
  }

  @Test
  void aDeviceOfTheDriversNeverIsAnOpaqueCardAndTheReverse() throws IOException {
    assertThat(refusal(node.newClaim(TestClaims.share(NodeOfPlugins.NODE, "a", 100, "8Gi", ""))))
        .contains("the card is opaque, and has no such device");
    assertThat(refusal(node.newClaim(TestClaims.whole(NodeOfPlugins.NODE, "a", 100))))
        .contains("the card is opaque, and has no such device");
    DeviceRequestAllocationResult ofDriver =
        new DeviceRequestAllocationResultBuilder(share("a", "8Gi", "")).withDevice("gpu-0-opaque").build();
    assertThat(refusal(node.newClaim(ofDriver))).contains("the card is not opaque");
  }

  @Test
  void aCardThatNoFileListsAnyMoreCanBeReleasedAndNotPrepared() throws IOException {
    ResourceClaim claim = node.newClaim(share("a", "8Gi", ""));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    Files.delete(node.root.resolve("cards.d/cards.yaml"));
    assertThat(refusal(claim)).contains("no file of the node lists it any more");
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void whatIsLeftOfADeletedClaimThatLostItsRecordKeepsNobodyOffOtherCards() throws IOException {
    ResourceClaim claim = node.newClaim(share("a", "8Gi", ""));
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    String uid = claim.getMetadata().getUid();
    Files.delete(node.root.resolve("state/claims/" + uid + ".claim"));
    node.gone = Set.of(uid);
    assertThat(node.prepare(node.newClaim(TestClaims.share(NodeOfPlugins.NODE, "a", 0, "1Gi", ""))))
        .isInstanceOf(ClaimService.Ready.class);
    assertThat(refusal(node.newClaim(share("a", "1Gi", "")))).contains("is prepared as a whole");
  }

  @Test
  void aNodeWithoutTheDriverHasItsOpaqueCardsAllTheSame() throws IOException {
    Path empty = Files.createDirectories(node.root.resolve("empty"));
    try (InventoryReader reader = new InventoryReader(new DriverRoot(empty, "/none"), empty, library -> node.cards,
        TestCardFiles.in(node.root, "n"), new CardPolicy(new Reserve.Amount(0), false, false),
        new FlapFile(node.root.resolve("flaps"), "boot", Clock.systemUTC()),
        () -> ClaimedInstances.NONE)) {
      assertThat(reader.read()).isInstanceOfSatisfying(Inventory.Cards.class, cards -> {
        assertThat(cards.driverVersion()).isEmpty();
        assertThat(cards.gpus()).singleElement().satisfies(gpu -> {
          assertThat(gpu.index()).isEqualTo(100);
          assertThat(gpu.isOpaque()).isTrue();
          assertThat(gpu.memoryEnforcement()).isEqualTo(MemoryEnforcement.None);
          assertThat(gpu.model()).isEqualTo("accelerator-9");
          assertThat(gpu).extracting(Gpu::memoryBytes).isEqualTo(16L << 30);
        });
      });
    }
  }

  private String refusal(ResourceClaim claim) throws IOException {
    return ((ClaimService.Failed) node.prepare(claim)).error();
  }

  private static DeviceRequestAllocationResult share(String request, String memory, String cores) {
    return new DeviceRequestAllocationResultBuilder(
        TestClaims.share(NodeOfPlugins.NODE, request, 100, memory, cores)).withDevice("gpu-100-opaque").build();
  }
}
