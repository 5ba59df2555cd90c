package dev.partita.cli.resize;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResizeCommandTest {
  private static final String SHARE = "0b5e8a9e-0000-4000-8000-000000000001";

  private static PaperCluster cluster;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    cluster = new PaperCluster(folder);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Test
  void itAsksByTheAnnotationAndLeavesTheRestOfTheClaimAsItIs() {
    claim("asks", Map.of("mine", "stays"), "");
    CommandRun run = cluster.run("resize", "asks", "--memory", "12Gi", "--cores", "40", "--timeout", "0s");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo("resourceclaim asks: asked for memory=12Gi,cores=40\n");
    assertThat(annotations("asks"))
        .containsAllEntriesOf(Map.of("mine", "stays", Driver.RESIZE_ANNOTATION, "memory=12Gi,cores=40"));
    assertThat(cluster.run("resize", "asks", "--request", "left", "--memory", "4Gi", "--timeout", "0s").out())
        .contains("asked for left.memory=4Gi");
  }

  @Test
  void theKindMayStandBeforeTheNameAsKubectlHasIt() {
    claim("named", Map.of(), "");
    for (String[] words : new String[][]{{"claim", "named"}, {"claim/named"}, {"resourceclaims", "named"}}) {
      List<String> command = new ArrayList<>(List.of("resize"));
      command.addAll(List.of(words));
      command.addAll(List.of("--memory", "2Gi", "--timeout", "0s"));
      assertThat(cluster.run(command.toArray(String[]::new)).out())
          .isEqualTo("resourceclaim named: asked for memory=2Gi\n");
    }
    CommandRun two = cluster.run("resize", "named", "other", "--memory", "2Gi");
    assertThat(two.status()).isEqualTo(2);
    assertThat(two.err()).contains("'named other' is not one claim: give its name, or claim NAME");
  }

  @Test
  void itEndsWhenTheSizeIsInForce() {
    claim("granted", answered("memory=12Gi: granted", "memory=12Gi,cores=0"), "memory=12Gi,cores=0");
    CommandRun run = cluster.run("resize", "granted", "--memory", "12Gi");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).endsWith("resourceclaim granted: in force: memory=12Gi,cores=0\n");
  }

  @Test
  void itSaysWhatIsWaitedForAndFailsWhenTheTimeIsUp() {
    claim("waits", answered("memory=12Gi: waits: card gpu-0 has 2 GiB beside what others have", ""), "");
    CommandRun run = cluster.run("resize", "waits", "--memory", "12Gi", "--timeout", "1s");
    assertThat(run.status()).isEqualTo(1);
    assertThat(run.out()).contains("resourceclaim waits: waits: card gpu-0 has 2 GiB");
    assertThat(run.err()).contains("waited 1 s for the new size to be in force; it goes on all the same")
        .contains("card gpu-0 has 2 GiB");

    claim("shrinks", answered("memory=1Gi: granted", "memory=1Gi,cores=0"), "memory=8Gi,cores=0");
    assertThat(cluster.run("resize", "shrinks", "--memory", "1Gi", "--timeout", "1s").err())
        .contains("granted, not in force yet: memory=1Gi,cores=0", "until the share's processes hold no more");
  }

  @Test
  void aRefusalAndAMissingAnswerAreSaidAtOnceInOneLine() {
    claim("refused", answered("memory=1Ti: refused: card gpu-0 has 140 GiB for shares", ""), "");
    CommandRun refused = cluster.run("resize", "refused", "--memory", "1Ti");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).isEqualTo("partita: refused: card gpu-0 has 140 GiB for shares\n");
    claim("silent", Map.of(), "");
    assertThat(cluster.run("resize", "silent", "--memory", "1Gi", "--timeout", "1s").err())
        .contains("no controller has answered");
  }

  @Test
  void ofWhatSomebodyElseAsksForTheBeginningIsSaidInOneLine() {
    String other = "memory=1Gi\nresourceclaim c: in force" + "!".repeat(100_000);
    assertThat(ResizeProgress.of(asking(Map.of(Driver.RESIZE_ANNOTATION, other)), "memory=2Gi"))
        .isInstanceOfSatisfying(ResizeProgress.Refused.class, refused -> assertThat(refused.words())
            .startsWith("somebody else asks for another size: memory=1Gi?resourceclaim").hasSizeLessThan(300));
    assertThat(ResizeProgress.of(asking(Map.of()), "memory=2Gi"))
        .isEqualTo(new ResizeProgress.Refused("somebody else took back what was asked for"));
  }

  private static ResourceClaim asking(Map<String, String> annotations) {
    return new ResourceClaimBuilder().withNewMetadata().withAnnotations(annotations).endMetadata().build();
  }

  @Test
  void whatCannotBeMeantIsSaidBeforeAnythingIsWritten() {
    claim("wrong", Map.of(), "");
    assertWrong("what to change is missing: --memory or --cores", "resize", "wrong");
    assertWrong("cores is a percentage: 101", "resize", "wrong", "--cores", "101");
    assertWrong("memory is not a quantity", "resize", "wrong", "--memory", "much");
    assertThat(annotations("wrong")).doesNotContainKey(Driver.RESIZE_ANNOTATION);
    CommandRun missing = cluster.run("resize", "nobody", "--memory", "1Gi");
    assertThat(missing.status()).isEqualTo(1);
    assertThat(missing.err()).isEqualTo("partita: there is no ResourceClaim team/nobody\n");
  }

  private static void assertWrong(String message, String... command) {
    CommandRun run = cluster.run(command);
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains(message).hasLineCount(1);
  }

  private static Map<String, String> answered(String answer, String granted) {
    return granted.isEmpty()
        ? Map.of(Driver.RESIZE_ANSWER_ANNOTATION, answer)
        : Map.of(Driver.RESIZE_ANSWER_ANNOTATION, answer, Driver.GRANTED_SIZES_ANNOTATION, SHARE + ":" + granted);
  }

  private static void claim(String name, Map<String, String> annotations, String inForce) {
    cluster.add(new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName(name)
        .withAnnotations(annotations).endMetadata().withNewSpec().endSpec().withNewStatus()
        .withDevices(new AllocatedDeviceStatusBuilder().withDriver(Driver.NAME).withPool("node/gpu")
            .withDevice("gpu-0-shared").withShareID(SHARE)
            .withData(new RawExtension(Map.of(DeviceStatusData.SIZE_IN_FORCE.key(), inForce))).build())
        .endStatus().build());
  }

  private static Map<String, String> annotations(String claim) {
    return cluster.client().resources(ResourceClaim.class).inNamespace("team").withName(claim).require().getMetadata()
        .getAnnotations();
  }
}
