package dev.partita.controller.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.controller.PodGroupsOfTests;
import dev.partita.controller.TaintRuleBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SnapshotFileTest {
  private static final ClusterSnapshot SNAPSHOT =
      new PaperSnapshot().node("a", 2).quota("team", "200Gi").runs("team/x", "a", 0, "60Gi").waits("team/p", 3, "100Gi")
          .lastPod(
              pod -> new PodBuilder(pod).editSpec().addNewContainer().withName("main").withImage("secret.registry/x")
                  .addNewEnv().withName("PASSWORD").withValue("hunter2").endEnv().endContainer().endSpec().build())
          .waits("team/q", 0, "100Gi")
          .taintRule(new TaintRuleBuilder("rule").pool("a/gpu").device("gpu-1").taint("k", "v"))
          .podGroup(PodGroupsOfTests.gang("team", "train", 2))
          .done();

  private static String written() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    SnapshotFile.write(SNAPSHOT, file);
    return file.toString(StandardCharsets.UTF_8);
  }

  private static ClusterSnapshot read(String text) throws IOException {
    return SnapshotFile.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String outcomes(ClusterSnapshot snapshot) {
    return new WhatIf(snapshot).placeWaiting().stream()
        .map(outcome -> outcome.pod().getMetadata().getName() + switch (outcome) {
          case PodOutcome.Runs runs -> " runs on " + runs.node();
          case PodOutcome.Waits waits -> " waits: " + waits.why();
        }).toList().toString();
  }

  @Test
  void whatWasWrittenGivesTheSameAnswers() throws IOException {
    ClusterSnapshot back = read(written());
    assertThat(outcomes(back)).isEqualTo(outcomes(SNAPSHOT)).contains("p runs on a", "q waits", "quota");
    assertThat(back.time()).isEqualTo(SNAPSHOT.time());
    assertThat(back.cluster().published()).containsExactly("a");
    ByteArrayOutputStream again = new ByteArrayOutputStream();
    SnapshotFile.write(back, again);
    assertThat(again.toString(StandardCharsets.UTF_8)).isEqualTo(written());
  }

  @Test
  void commandsAndEnvironmentsOfPodsAreLeftOut() throws IOException {
    assertThat(written()).doesNotContain("hunter2", "PASSWORD", "secret.registry");
  }

  @Test
  void whatIsWrongIsNamedWithItsPlace() throws IOException {
    String right = written();
    assertWrong(right.substring(0, right.length() / 2), "line ");
    assertWrong("{}", "kind: is not PartitaSnapshot");
    assertWrong("[1]", "kind: is not PartitaSnapshot");
    assertWrong("", "kind: is not PartitaSnapshot");
    assertWrong(right.replace("\"version\" : 1,", "\"version\" : 7,"), "version: must be 1, not 7");
    assertWrong(right.replace("2026-05-01T12:00:00Z", "yesterday"), "time: ", "yesterday");
    assertWrong(right.replace("\"pods\" : [", "\"others\" : ["), "pods: is missing");
    assertWrong(right.replace("\"published\" : [ \"a\" ]", "\"published\" : 5"), "published: is no list");
    assertWrong(right.replace("\"uid\" : \"team/p\"", "\"uid\" : 5"), "pods[1].metadata.uid: is missing");
    assertWrong(right.replace("\"memoryBytes\" : 150323855360", "\"memoryBytes\" : \"much\""),
        "gpuNodes[0].status.gpus[0].memoryBytes: ");
    assertWrong(right.replace("\"priority\" : 3", "\"priority\" : {}"), "pods[1].spec.priority: ");
  }

  private static void assertWrong(String text, String... words) {
    assertThatThrownBy(() -> read(text)).as(text.substring(0, Math.min(60, text.length())))
        .isInstanceOf(IOException.class).hasMessageContainingAll(words)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }
}
