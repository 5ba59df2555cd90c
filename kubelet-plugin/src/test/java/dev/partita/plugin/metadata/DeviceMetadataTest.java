package dev.partita.plugin.metadata;

import static dev.partita.plugin.grant.Grants.GIB;
import static dev.partita.plugin.grant.Grants.admin;
import static dev.partita.plugin.grant.Grants.instance;
import static dev.partita.plugin.grant.Grants.share;
import static dev.partita.plugin.grant.Grants.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.inventory.Inventory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DeviceMetadataTest {
  private static final MetadataNames OF_TEMPLATE =
      new MetadataNames(Optional.of("gpu"), Map.of("b", "b/large"), Set.of());

  /** As Kubernetes' documentation has it, in each version. */
  @Test
  void aShareOfATemplatesClaimIsToldInFull() {
    PreparedClaim claim = claim(OF_TEMPLATE, share("a", 0, "k", 8, 25));
    String document =
        """
            {
              "kind": "DeviceMetadata",
              "apiVersion": "metadata.resource.k8s.io/%s",
              "metadata": {
                "name": "pod0-gpu-2kqrd",
                "namespace": "default",
                "uid": "uid-1",
                "generation": 7
              },
              "podClaimName": "gpu",
              "requests": [
                {
                  "name": "a",
                  "devices": [
                    {
                      "driver": "gpu.partita.dev",
                      "pool": "node-0/gpu",
                      "name": "gpu-0-shared",
                      "attributes": {
                        "architecture": {
                          "string": "Hopper"
                        },
                        "brand": {
                          "string": "Nvidia"
                        },
                        "coreLimit": {
                          "int": 25
                        },
                        "cudaComputeCapability": {
                          "version": "9.0.0"
                        },
                        "cudaDriverVersion": {
                          "version": "13.0.0"
                        },
                        "driverVersion": {
                          "version": "580.95.5"
                        },
                        "index": {
                          "int": 0
                        },
                        "memoryLimit": {
                          "int": 8589934592
                        },
                        "minor": {
                          "int": 0
                        },
                        "mode": {
                          "string": "shared"
                        },
                        "model": {
                          "string": "h100"
                        },
                        "pciBusID": {
                          "string": "0000:00:00.0"
                        },
                        "productName": {
                          "string": "NVIDIA H100"
                        },
                        "resource.kubernetes.io/numaNode": {
                          "int": 1
                        },
                        "type": {
                          "string": "gpu"
                        },
                        "uuid": {
                          "string": "GPU-0"
                        }
                      }
                    }
                  ]
                }
              ]
            }
            """;
    byte[] file = DeviceMetadata.of(claim, "a", "node-0/gpu", cards()).at(7);
    assertThat(new String(file, StandardCharsets.UTF_8))
        .isEqualTo(document.formatted("v1beta1") + document.formatted("v1alpha1"));
    assertThat(DeviceMetadata.generationOf(file)).isEqualTo(7);
  }

  @Test
  void eachRequestHasItsOwnDevicesAndTheNameOfTheAlternativeThatWasChosen() throws IOException {
    Grant both = new Grant(List.of("a", "b"), "gpu-2", Optional.empty(), whole("a", 2).card(), whole("a", 2).use());
    PreparedClaim claim = claim(OF_TEMPLATE, whole("a", 0), whole("b", 1), both);
    assertThat(claim.requests()).containsExactly("a", "b");
    assertThat(request(claim, "a").path("name").asText()).isEqualTo("a");
    assertThat(request(claim, "a").path("devices").findValuesAsText("name")).containsExactly("gpu-0", "gpu-2");
    assertThat(request(claim, "b").path("name").asText()).isEqualTo("b/large");
    assertThat(request(claim, "b").path("devices").findValuesAsText("name")).containsExactly("gpu-1", "gpu-2");
  }

  @Test
  void aClaimThatPodsReferToByItsNameHasNoPodClaimName() throws IOException {
    PreparedClaim claim = claim(new MetadataNames(Optional.empty(), Map.of(), Set.of()), whole("a", 0));
    assertThat(document(claim, "a").has("podClaimName")).isFalse();
  }

  @Test
  void everyWayToUseACardSaysWhatContainersAreHeldTo() throws IOException {
    JsonNode whole = attributes(whole("a", 1));
    assertThat(whole.at("/mode/string").asText()).isEqualTo("whole");
    assertThat(whole.at("/memoryLimit/int").asLong()).isEqualTo(80 * GIB);
    assertThat(whole.has("coreLimit")).isFalse();

    JsonNode instance = attributes(instance("a", 0, 4, 2));
    assertThat(instance.at("/type/string").asText()).isEqualTo("mig");
    assertThat(instance.at("/profile/string").asText()).isEqualTo("2g");
    assertThat(instance.at("/placement/int").asInt()).isEqualTo(4);
    assertThat(instance.at("/memoryLimit/int").asLong()).isEqualTo(20 * GIB);

    JsonNode admin = attributes(admin("a", 1));
    assertThat(admin.at("/uuid/string").asText()).isEqualTo("GPU-1");
    assertThat(admin.at("/memoryLimit/int").asLong()).isEqualTo(80 * GIB);

    Grant told = share("a", 0, "k", 8, 25);
    Grant notHeld = new Grant(told.requests(), told.device(), told.shareId(), told.card(),
        new HookedShare(new Share(8 * GIB, 25, CoreLimit.NONE, 1)));
    assertThat(attributes(notHeld).has("coreLimit")).as("of a core limit that is not enforced").isFalse();
  }

  /** resource.k8s.io lets a device have 32. */
  @Test
  void noDeviceHasMoreAttributesThanTheApiAllows() {
    assertThat(DeviceAttribute.values().length + 2).isLessThanOrEqualTo(32);
  }

  @Test
  void ofACardThatIsGoneNothingIsTold() {
    PreparedClaim claim = claim(OF_TEMPLATE, whole("a", 7));
    assertThatThrownBy(() -> DeviceMetadata.of(claim, "a", "node-0/gpu", cards()))
        .hasMessageContaining("card GPU-7 does not answer");
  }

  @Test
  void whatIsNoMetadataHasNoGeneration() {
    for (String file : List.of("", "{", "[]", "{\"metadata\": 3}", "{\"metadata\": {\"generation\": -4}}", "\0")) {
      assertThat(DeviceMetadata.generationOf(file.getBytes(StandardCharsets.UTF_8))).as(file).isZero();
    }
  }

  private static JsonNode attributes(Grant grant) throws IOException {
    return request(claim(OF_TEMPLATE, grant), "a").path("devices").path(0).path("attributes");
  }

  private static JsonNode request(PreparedClaim claim, String request) throws IOException {
    return document(claim, request).path("requests").path(0);
  }

  /** The first one, where all say the same. */
  private static JsonNode document(PreparedClaim claim, String request) throws IOException {
    byte[] file = DeviceMetadata.of(claim, request, "node-0/gpu", cards()).at(1);
    try (MappingIterator<JsonNode> documents = new ObjectMapper().readerFor(JsonNode.class).readValues(file)) {
      List<JsonNode> all = documents.readAll();
      assertThat(all).extracting(document -> document.path("apiVersion").asText())
          .containsExactly("metadata.resource.k8s.io/v1beta1", "metadata.resource.k8s.io/v1alpha1");
      assertThat(all.getFirst().path("requests")).isEqualTo(all.getLast().path("requests"));
      return all.getFirst();
    }
  }

  private static PreparedClaim claim(MetadataNames names, Grant... grants) {
    return new PreparedClaim(
        new ClaimRef("default", "pod0-gpu-2kqrd", "uid-1"), PreparedClaim.Phase.COMPLETED, "boot", List.of(grants),
        Map.of(), false, Optional.of(names));
  }

  private static Inventory.Cards cards() {
    return new Inventory.Cards(
        new DriverFiles("580.95.05", "/usr/lib", List.of(), List.of(), List.of(), List.of(), new TreeMap<>()),
        "580.95.05",
        Optional.of("13.0"), List.of(card(0), card(1), card(2)));
  }

  private static Gpu card(int number) {
    return new Gpu(number, number, "GPU-" + number, GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"),
        80 * GIB, new GpuTopology("0000:0" + number + ":00.0", null, 1, null), GpuHealth.HEALTHY)
        .withMigProfiles(List.of(new MigProfile("2g", 20 * GIB, 32, 2, 3, List.of(new MigProfile.Placement(4, 2)))));
  }
}
