package dev.partita.controller.templates;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.api.Driver;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TemplatePlanTest {
  private static final GpuRequest WHOLE =
      new GpuRequest(1, new GpuRequest.Portion.Whole(), CardChoice.ANY, ShareOptions.NONE);
  private static final GpuRequest TWO =
      new GpuRequest(2, new GpuRequest.Portion.Whole(), CardChoice.ANY, ShareOptions.NONE);
  private static final ClaimTemplate TEMPLATE = new ClaimTemplate(WHOLE);
  private static final String NAME = TEMPLATE.name();

  @Test
  void whatAPodAsksForIsMadeAndLabelledAsOurs() {
    Pod pod = pod("a", note(WHOLE), NAME);

    assertThat(plan(null, List.of(pod)))
        .isInstanceOfSatisfying(
            TemplatePlan.Make.class,
            make -> {
              assertThat(make.waiting()).containsExactly(pod);
              assertThat(make.template().getMetadata().getNamespace()).isEqualTo("team");
              assertThat(make.template().getMetadata().getName()).isEqualTo(NAME);
              assertThat(make.template().getSpec()).isEqualTo(TEMPLATE.object().getSpec());
              assertThat(TemplatePlan.isOurs(make.template())).isTrue();
            });
  }

  @Test
  void oneIsMadeForAllWhoAskForTheSame() {
    Pod first = pod("first", note(WHOLE), NAME);
    Pod second = pod("second", note(TWO, WHOLE), NAME);

    assertThat(plan(null, List.of(first, second)))
        .isInstanceOfSatisfying(TemplatePlan.Make.class,
            make -> assertThat(make.waiting()).containsExactly(first, second));
  }

  @Test
  void aNoteWhoseNameIsNotTheOneThatThePodNamesMakesNothing() {
    assertThat(plan(null, List.of(pod("a", note(TWO), NAME))))
        .isEqualTo(new TemplatePlan.Keep());
  }

  @Test
  void aForgedNoteIsToldToItsPodAndKeepsNobodyElseFromTheTemplate() {
    Pod forger =
        pod("forger", note(WHOLE).replace("\"whole\":true", "\"whole\":true,\"deviceClassName\":\"other\""), NAME);
    Pod honest = pod("honest", note(WHOLE), NAME);

    assertThat(plan(null, List.of(forger)))
        .isInstanceOfSatisfying(
            TemplatePlan.Tell.class,
            tell -> {
              assertThat(tell.pods()).containsExactly(forger);
              assertThat(tell.problem()).startsWith("ResourceClaimTemplate " + NAME
                  + " is not made: annotation gpu.partita.dev/converted-requests is not written");
            });
    assertThat(plan(null, List.of(forger, honest)))
        .isInstanceOfSatisfying(TemplatePlan.Make.class, make -> assertThat(make.waiting()).containsExactly(honest));
  }

  @Test
  void aPodWithoutANoteMayNameATemplateThatSomebodyElseIsToMake() {
    assertThat(plan(null, List.of(pod("a", "", NAME)))).isEqualTo(new TemplatePlan.Keep());
  }

  @Test
  void nothingIsMadeForPodsThatAreOver() {
    Pod over = new PodBuilder(pod("over", note(WHOLE), NAME)).withNewStatus().withPhase("Failed").endStatus().build();
    Pod ending = new PodBuilder(pod("ending", note(WHOLE), NAME)).editMetadata()
        .withDeletionTimestamp("2026-01-01T00:00:00Z").endMetadata().build();

    assertThat(plan(null, List.of(over, ending))).isEqualTo(new TemplatePlan.Keep());
  }

  @Test
  void whatIsThereStaysAsLongAsAnyPodNamesItEvenOneThatIsOver() {
    Pod over =
        new PodBuilder(pod("over", note(WHOLE), NAME)).withNewStatus().withPhase("Succeeded").endStatus().build();

    assertThat(plan(ours(), List.of(over))).isEqualTo(new TemplatePlan.Keep());
    assertThat(plan(ours(), List.of())).isEqualTo(new TemplatePlan.Unused(ours()));
  }

  @Test
  void somebodyElsesTemplateOfThatNameIsNeitherReplacedNorDeletedAndThePodsThatExpectOursAreTold() {
    ResourceClaimTemplate foreign =
        new ResourceClaimTemplateBuilder(ours()).editMetadata().withLabels(Map.of()).endMetadata().build();
    Pod asking = pod("asking", note(WHOLE), NAME);

    assertThat(plan(foreign, List.of())).isEqualTo(new TemplatePlan.Keep());
    assertThat(plan(foreign, List.of(pod("content", "", NAME))))
        .isEqualTo(new TemplatePlan.Keep());
    assertThat(plan(foreign, List.of(asking)))
        .isInstanceOfSatisfying(
            TemplatePlan.Tell.class,
            tell -> {
              assertThat(tell.pods()).containsExactly(asking);
              assertThat(tell.problem()).contains("is somebody else's");
            });
  }

  @Test
  void aLabelAloneMakesNoTemplateOurs() {
    assertThat(TemplatePlan
        .isOurs(new ResourceClaimTemplateBuilder(ours()).editMetadata().withName("quarter").endMetadata().build()))
        .isFalse();
    assertThat(TemplatePlan.names(pod("a", "", NAME, "quarter", "partita-", NAME + "0"))).containsExactly(NAME);
  }

  @Test
  void anUnusedTemplateIsKeptForTheGraceTimeFromWhenItWasLastUsed() {
    Idle idle = new Idle(Duration.ofMinutes(10));
    ObjectKey key = new ObjectKey("team", NAME);
    Instant start = Instant.parse("2026-01-01T00:00:00Z");

    assertThat(idle.left(key, "1", start)).isEqualTo(Duration.ofMinutes(10));
    assertThat(idle.left(key, "1", start.plusSeconds(540))).isEqualTo(Duration.ofMinutes(1));
    assertThat(idle.left(key, "1", start.plusSeconds(600))).isZero();
    idle.forget(key);
    assertThat(idle.left(key, "1", start.plusSeconds(601))).as("it was used in between")
        .isEqualTo(Duration.ofMinutes(10));
    assertThat(idle.left(key, "2", start.plusSeconds(9999))).as("made anew").isEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void aNoteIsReadOnceForAllTemplatesThatAPodNamesUntilThePodChanges() {
    List<String> read = new ArrayList<>();
    ConversionAnnotations annotations = new ConversionAnnotations(text -> {
      read.add(text);
      return ConvertedRequests.read(text);
    });
    Pod wrong = new PodBuilder(pod("a", "{", NAME)).editMetadata().withResourceVersion("1").endMetadata().build();
    for (int i = 0; i < 1000; i++) {
      assertThat(TemplatePlan.of("team", "partita-" + i, null, List.of(wrong), annotations))
          .isInstanceOf(TemplatePlan.Tell.class);
    }
    assertThat(read).containsExactly("{");
    Pod mended = new PodBuilder(pod("a", note(WHOLE), NAME)).editMetadata().withResourceVersion("2").endMetadata()
        .build();
    assertThat(TemplatePlan.of("team", NAME, null, List.of(mended), annotations)).isInstanceOf(TemplatePlan.Make.class);
  }

  @Test
  void nothingIsMadeForAPodThatNamesMoreTemplatesThanANoteCanSpeakOf() {
    List<String> names = new ArrayList<>(List.of(NAME));
    IntStream.range(0, ConvertedRequests.MOST).forEach(i -> names.add("partita-" + "%020x".formatted(i)));
    Pod many = pod("many", note(WHOLE), names.toArray(String[]::new));
    assertThat(ConversionAnnotations.namesTooMany(many)).isTrue();
    assertThat(plan(null, List.of(many))).isEqualTo(new TemplatePlan.Keep());
    Pod most = pod("most", note(WHOLE), names.subList(0, ConvertedRequests.MOST).toArray(String[]::new));
    assertThat(plan(null, List.of(most))).isInstanceOf(TemplatePlan.Make.class);
  }

  private static TemplatePlan plan(@Nullable ResourceClaimTemplate existing, List<Pod> pods) {
    return TemplatePlan.of("team", NAME, existing, pods, new ConversionAnnotations());
  }

  private static ResourceClaimTemplate ours() {
    return new ResourceClaimTemplateBuilder(TEMPLATE.object())
        .editMetadata()
        .withNamespace("team")
        .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER)
        .endMetadata()
        .build();
  }

  private static String note(GpuRequest... requests) {
    return new ConvertedRequests(List.of(requests)).text();
  }

  private static Pod pod(String name, String note, String... templates) {
    PodBuilder pod = new PodBuilder().withNewMetadata().withName(name).withNamespace("team").withUid(name).endMetadata()
        .withNewSpec().endSpec();
    if (!note.isEmpty()) {
      pod.editMetadata().addToAnnotations(Driver.CONVERTED_REQUESTS_ANNOTATION, note).endMetadata();
    }
    for (String template : templates) {
      pod.editSpec().addNewResourceClaim().withName("gpu-" + template).withResourceClaimTemplateName(template)
          .endResourceClaim().endSpec();
    }
    return pod.build();
  }
}
