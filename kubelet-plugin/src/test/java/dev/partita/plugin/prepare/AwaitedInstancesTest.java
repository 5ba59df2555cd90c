package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.device.InstanceCondition;
import dev.partita.api.node.BindingClaim;
import dev.partita.plugin.binding.AwaitedInstances;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.nvml.MigControl;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** MIG instances are made before kubelet asks for their claims, where kube-scheduler waits for them. */
class AwaitedInstancesTest extends OnNodeOfPlugins {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final AtomicInteger readings = new AtomicInteger();
  private Instant now = START;

  private static DeviceRequestAllocationResult awaited() {
    return new DeviceRequestAllocationResultBuilder(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"))
        .withBindingConditions(InstanceCondition.InstanceMade.name())
        .withBindingFailureConditions(InstanceCondition.InstanceFailed.name()).build();
  }

  private Duration look(List<ResourceClaim> claims) throws IOException {
    List<BindingClaim> told =
        claims.stream().map(claim -> new BindingClaim("default", claim.getMetadata().getName(),
            claim.getMetadata().getUid(), "2026-01-01T00:00:00Z")).toList();
    return node.runParts(real -> real, parts -> looking(parts, told).look());
  }

  private AwaitedInstances looking(NodeOfPlugins.Parts parts, List<BindingClaim> told) {
    return new AwaitedInstances(NodeOfPlugins.NODE + "/gpu", () -> Optional.of(told), parts.checkpoint(), parts.api(),
        parts.claims(), parts.reports(), readings::incrementAndGet, () -> now);
  }

  private List<Condition> conditions(ResourceClaim claim) {
    return Objects.requireNonNull(client.resource(claim).get()).getStatus().getDevices().stream()
        .flatMap(device -> device.getConditions().stream()).toList();
  }

  @Test
  void theInstanceIsMadeAndKubeSchedulerToldAndKubeletGoesOnFromThere() throws IOException {
    ResourceClaim claim = node.newClaim(awaited());
    look(List.of(claim));
    assertThat(node.cards.instances.values()).extracting(MigControl.GpuInstance::start).containsExactly(4);
    assertThat(conditions(claim)).singleElement().satisfies(condition -> {
      assertThat(condition.getType()).isEqualTo("InstanceMade");
      assertThat(condition.getStatus()).isEqualTo("True");
    });
    assertThat(node.files("cdi")).as("no container may have it yet").isEmpty();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void whatWasMadeIsGivenBackWhenTheClaimIsAllocatedHereNoMore() throws IOException {
    ResourceClaim claim = node.newClaim(awaited());
    look(List.of(claim));
    look(List.of()); // the list may be older than what the claim says
    assertThat(node.cards.instances).hasSize(1);
    client.resource(claim).delete();
    look(List.of());
    node.assertNothingLeft();
  }

  @Test
  void whatAPreparedClaimHasStaysWhateverIsTold() throws IOException {
    ResourceClaim claim = node.newClaim(awaited());
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    client.resource(claim).delete();
    look(List.of());
    assertThat(node.cards.instances).as("kubelet asks for its removal").hasSize(1);
  }

  @Test
  void kubeSchedulerIsToldThatAnInstanceCannotBeMadeAndNothingIsLeftOfIt() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 4));
    ResourceClaim claim = node.newClaim(awaited());
    node.cards.instances.put(9, new MigControl.GpuInstance(9, "3g.71gb", 4, 4, List.of()));
    look(List.of(claim));
    assertThat(conditions(claim)).singleElement().satisfies(condition -> {
      assertThat(condition.getType()).isEqualTo("InstanceFailed");
      assertThat(condition.getStatus()).isEqualTo("True");
      assertThat(condition.getMessage()).contains("is in the way");
    });
    assertThat(readings).hasValue(1);
    assertThat(node.cards.instances.keySet()).containsExactly(9);
    node.assertNothingLeftOfClaims();
  }

  @Test
  void aPlaceThatAnotherClaimHasIsWaitedForAMinute() throws IOException {
    ResourceClaim before = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 2));
    assertThat(node.prepare(before)).isInstanceOf(ClaimService.Ready.class);
    ResourceClaim claim = node.newClaim(awaited());
    List<BindingClaim> told = List.of(new BindingClaim("default", claim.getMetadata().getName(),
        claim.getMetadata().getUid(), ""));
    node.runParts(real -> real, parts -> {
      AwaitedInstances awaited = looking(parts, told);
      assertThat(awaited.look()).isEqualTo(Duration.ofSeconds(1));
      now = START.plusSeconds(59);
      assertThat(awaited.look()).isEqualTo(Duration.ofSeconds(1));
      assertThat(Objects.requireNonNull(client.resource(claim).get()).getStatus().getDevices()).isNullOrEmpty();
      now = START.plusSeconds(60);
      awaited.look();
      return true;
    });
    assertThat(conditions(claim)).extracting(Condition::getType).containsExactly("InstanceFailed");
  }

  @Test
  void aClaimThatWaitsForNothingHereIsLeftAlone() throws IOException {
    look(List.of(node.newClaim(instance(NodeOfPlugins.NODE, "gpu", 2, "2g-35gb-4"))));
    node.assertNothingLeft();
  }
}
