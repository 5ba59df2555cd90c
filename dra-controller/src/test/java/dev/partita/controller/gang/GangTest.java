package dev.partita.controller.gang;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GangTest {
  private static final GangKey ANNOTATED = new GangKey.Annotated("default", "train");
  private static final GangKey OF_POD_GROUP = new GangKey.OfPodGroup("default", "group");
  private static final PodGroups NOT_SERVED = _ -> new PodGroupPolicy.NoGang();

  @Test
  void aGangWaitsUntilAllAreThere() {
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", "3"), pod("b", "3")), NOT_SERVED))
        .isEqualTo(new Gang.State.Waits("gang train: 2 of 3 pods are there"));
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", "3"), pod("b", "3"), pod("c", "3")), NOT_SERVED))
        .isEqualTo(new Gang.State.Complete(3));
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", "1")), NOT_SERVED)).isEqualTo(new Gang.State.Complete(1));
  }

  @Test
  void aSizeThatIsNoneIsSaid() {
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", "many")), NOT_SERVED))
        .isEqualTo(new Gang.State.Waits(
            "gang train: annotation gpu.partita.dev/gang-size must be a whole number from 1 to 10000, not many"));
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", " ")), NOT_SERVED))
        .isEqualTo(new Gang.State.Waits(
            "gang train: annotation gpu.partita.dev/gang-size must be a whole number from 1 to 10000; there is none"));
    assertThat(Gang.state(ANNOTATED, List.of(pod("a", "3"), pod("b", "4")), NOT_SERVED))
        .isEqualTo(new Gang.State.Waits("gang train: its pods disagree about gpu.partita.dev/gang-size: 3, 4"));
  }

  /** All of a gang's pods are told, so that what one says must not grow with what the others say. */
  @Test
  void whatAGangIsToldStaysShortWhateverItsPodsSay() {
    String filler = "9".repeat(60_000);
    GangKey gang = new GangKey.Annotated("default", filler);
    List<Pod> pods = IntStream.range(0, 200).mapToObj(i -> pod("p" + i, i + filler)).toList();
    assertThat(Gang.state(gang, pods, NOT_SERVED)).isInstanceOfSatisfying(Gang.State.Waits.class,
        waits -> assertThat(waits.why()).hasSizeLessThan(1_000).contains("disagree", " and more"));
    assertThat(Gang.state(gang, pods.subList(0, 1), NOT_SERVED)).isInstanceOfSatisfying(Gang.State.Waits.class,
        waits -> assertThat(waits.why()).hasSizeLessThan(1_000).contains("whole number"));
    assertThat(gang.toString()).as("gangs are told apart by all of their names").hasSizeGreaterThan(60_000);
  }

  @Test
  void aPodThatHasFailedOrIsOnItsWayOutIsNotThereAndOneThatIsDoneIs() {
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).withNewStatus().withPhase("Failed").endStatus().build()))
        .isFalse();
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).withNewStatus().withPhase("Succeeded").endStatus().build()))
        .isTrue();
    assertThat(Gang.isThere(new PodBuilder(pod("a", "1")).editMetadata().withDeletionTimestamp("2026-01-01T00:00:00Z")
        .endMetadata().build())).isFalse();
  }

  /** All of these pods name the PodGroup; two are there. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock = """
          2           |
          1           |
          3           | gang of PodGroup group: 2 of 3 pods are there
          10000       | gang of PodGroup group: 2 of 10000 pods are there
          10001       | gang of PodGroup group: minCount must be a whole number from 1 to 10000, not 10001
          2147483647  | gang of PodGroup group: minCount must be a whole number from 1 to 10000, not 2147483647
          0           | gang of PodGroup group: minCount must be a whole number from 1 to 10000, not 0
          -1          | gang of PodGroup group: minCount must be a whole number from 1 to 10000, not -1
          """)
  void aPodGroupSaysHowManyMustBeThere(int minCount, String why) {
    Gang.State state =
        Gang.state(OF_POD_GROUP, List.of(inGroup("a"), inGroup("b")), _ -> new PodGroupPolicy.AllAtOnce(minCount));
    assertThat(state).isEqualTo(why == null ? new Gang.State.Complete(minCount) : new Gang.State.Waits(why));
  }

  @Test
  void podsOfAPodGroupThatIsNotThereWait() {
    assertThat(Gang.state(OF_POD_GROUP, List.of(inGroup("a")), _ -> new PodGroupPolicy.Missing()))
        .isEqualTo(new Gang.State.Waits("gang of PodGroup group: there is no PodGroup of that name"));
  }

  @Test
  void aPodGroupComesBeforeAnnotationsUnlessItSaysNothingOfAGang() {
    Pod both = new PodBuilder(pod("a", "2")).withSpec(inGroup("a").getSpec()).build();
    assertThat(Gang.of(both, _ -> new PodGroupPolicy.AllAtOnce(3))).contains(OF_POD_GROUP);
    assertThat(Gang.of(both, _ -> new PodGroupPolicy.Missing())).contains(OF_POD_GROUP);
    assertThat(Gang.of(both, _ -> new PodGroupPolicy.NoGang())).contains(ANNOTATED);
    assertThat(Gang.candidates(both)).containsExactly(OF_POD_GROUP, ANNOTATED);
    assertThat(Gang.of(inGroup("a"), _ -> new PodGroupPolicy.NoGang())).isEqualTo(Optional.empty());
    assertThat(Gang.of(pod("a", "2"), _ -> new PodGroupPolicy.Missing())).contains(ANNOTATED);
  }

  private static Pod inGroup(String name) {
    return new PodBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().withNewSpec()
        .withNewSchedulingGroup("group").endSpec().build();
  }

  private static Pod pod(String name, String size) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .addToAnnotations("gpu.partita.dev/gang", "train")
        .addToAnnotations("gpu.partita.dev/gang-size", size)
        .endMetadata()
        .build();
  }
}
