package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.instanceShare;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static dev.partita.plugin.prepare.NodeOfPlugins.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService.Failed;
import dev.partita.plugin.dra.ClaimService.Outcome;
import dev.partita.plugin.dra.ClaimService.Ready;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.Context.CancellableContext;
import io.grpc.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nobody gets what the node holds, be there a claim for it or not. */
class HeldCardTest extends OnNodeOfPlugins {
  @Test
  void whatADeletedClaimHasIsNobodyElsesUntilKubeletReleasesIt() throws IOException {
    ResourceClaim first = node.newClaim(whole(NODE, "c", 1), instance(NODE, "d", 2, "2g-35gb-4"));
    assertThat(node.prepare(first)).isInstanceOf(Ready.class);
    client.resource(first).delete();
    ResourceClaim onCard = node.newClaim(share(NODE, "a", 1, "1Gi", ""));
    ResourceClaim onInstance = node.newClaim(instance(NODE, "d", 2, "2g-35gb-4"));
    refused(onCard, first.getMetadata().getUid());
    refused(onInstance, first.getMetadata().getUid());
    assertThat(node.unprepare(first)).as("kubelet knows the claim by its UID").isEmpty();
    assertThat(node.prepare(onCard)).isInstanceOf(Ready.class);
  }

  @Test
  void whatIsLeftOfADeletedClaimThatLostItsRecordIsNobodyElses() throws IOException {
    ResourceClaim card = node.newClaim(whole(NODE, "c", 1));
    ResourceClaim most = node.newClaim(share(NODE, "a", 0, "140Gi", ""));
    assertThat(node.prepare(card)).isInstanceOf(Ready.class);
    assertThat(node.prepare(most)).isInstanceOf(Ready.class);
    Files.delete(record(card));
    Files.delete(record(most));
    ResourceClaim onCard = node.newClaim(share(NODE, "a", 1, "1Gi", ""));
    refused(onCard, card.getMetadata().getUid()); // nobody knows yet whether it is gone
    node.gone = Set.of(card.getMetadata().getUid(), most.getMetadata().getUid());
    refused(onCard, card.getMetadata().getUid());
    refused(node.newClaim(share(NODE, "a", 0, "2Gi", "")), "its shares would hold");
    ResourceClaim beside = node.newClaim(share(NODE, "a", 0, "512Mi", ""));
    assertThat(node.prepare(beside)).as("beside that share").isInstanceOf(Ready.class);
    node.gone = Set.of();
    assertThat(node.prepare(onCard)).as("a claim that is there will have its record again").isInstanceOf(Ready.class);
  }

  @Test
  void aClaimThatLostItsRecordAndItsSpecIsNamedByItsQuotaFile() throws IOException {
    ResourceClaim most = node.newClaim(share(NODE, "a", 0, "140Gi", ""));
    assertThat(node.prepare(most)).isInstanceOf(Ready.class);
    Files.delete(record(most));
    Files.delete(node.files("cdi").getFirst());
    node.gone = Set.of(most.getMetadata().getUid());
    refused(node.newClaim(whole(NODE, "c", 0)), "default/" + most.getMetadata().getName());
  }

  @Test
  void aShareOfAnInstanceThatLostItsRecordIsStillNobodyElses() throws IOException {
    node.cards.instances.put(9, node.cards.staticAt(9, 0));
    ResourceClaim most = node.newClaim(instanceShare(NODE, "a", 2, "2g-35gb-0", "31Gi"));
    assertThat(node.prepare(most)).isInstanceOf(Ready.class);
    Files.delete(record(most));
    node.gone = Set.of(most.getMetadata().getUid());
    refused(node.newClaim(instanceShare(NODE, "a", 2, "2g-35gb-0", "2Gi")), "its shares would hold");
    refused(node.newClaim(instance(NODE, "d", 2, "2g-35gb-0")), most.getMetadata().getUid());
    assertThat(node.prepare(node.newClaim(instanceShare(NODE, "a", 2, "2g-35gb-0", "1Gi")))).as("beside that share")
        .isInstanceOf(Ready.class);
  }

  @Test
  void whatAnotherVersionHasPreparedIsNeitherTouchedNorGivenToOthers() throws IOException {
    ResourceClaim newer = node.newClaim(whole(NODE, "c", 1));
    assertThat(node.prepare(newer)).isInstanceOf(Ready.class);
    String head = "partita-checkpoint 2 x\n";
    for (String record : new String[]{head + "{\"card\": \"GPU-1\"}", head + "\u0000"}) {
      Files.writeString(record(newer), record);
      Path spec = node.files("cdi").getFirst();
      String before = Files.readString(spec);
      refused(newer, "has version 2, this plugin reads 1");
      assertThat(node.unprepare(newer).orElseThrow()).contains("has version 2, this plugin reads 1");
      refused(node.newClaim(share(NODE, "a", 1, "1Gi", "")), newer.getMetadata().getUid());
      ResourceClaim elsewhere = node.newClaim(share(NODE, "a", 0, "1Gi", ""));
      assertThat(node.prepare(elsewhere)).isInstanceOf(Ready.class);
      assertThat(node.unprepare(elsewhere)).isEmpty();
      assertThat(record(newer)).content().isEqualTo(record);
      assertThat(spec).content().isEqualTo(before);
    }
    Files.delete(node.files("cdi").getFirst());
    String uid = newer.getMetadata().getUid();
    refused(node.newClaim(share(NODE, "a", 0, "1Gi", "")), uid); // nothing says which card it has
  }

  /** Kubelet's patience is over at once here: for a release it would be waited. */
  private void refused(ResourceClaim claim, String why) throws IOException {
    Outcome outcome;
    try (ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        CancellableContext call = Context.current().withDeadlineAfter(4, TimeUnit.SECONDS, timer)) {
      outcome = call.call(() -> node.prepare(claim));
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    assertThat(outcome)
        .isInstanceOfSatisfying(Failed.class, failed -> assertThat(failed.error()).contains(why));
  }

  private Path record(ResourceClaim claim) {
    return node.root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim");
  }
}
