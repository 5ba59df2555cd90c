package dev.partita.controller.agreement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.agreement.Recorded.Answer;
import dev.partita.controller.agreement.Recorded.Case;
import dev.partita.controller.agreement.Recorded.Node;
import dev.partita.controller.allocate.Allocator;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.slices.SlicePlan;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * What Kubernetes' own allocator can place ours can place too, and what it cannot ours does not, over generated cases,
 * for requests that need no policy of ours. The cases and that allocator's answers are recorded; this makes them anew
 * (Go 1.26, run in {@code dra-controller/src/agreement}):
 *
 * <pre>go run . > ../test/resources/agreement/kubernetes-1.36.jsonl</pre>
 *
 * <p>In a few things ours places more, by design. Where a selector fails on a device, Kubernetes refuses the claim with
 * an error, while ours leaves out the device: such answers are not compared. To a request with adminAccess it counts
 * for nothing here what is taken, while Kubernetes lets it have devices in use, but not beyond their counters and
 * capacity: of such claims it was asked as if nothing were taken, and of nodes with MIG instances, all of which can
 * never be had together, it does not count what it cannot place. A request for all that a class selects in several
 * modes means every card once, while Kubernetes wants a card in every mode at once, which no card can be had in. And
 * where a {@code distinctAttribute} covers a request for several devices, Kubernetes forgets all but the last of them
 * (kubernetes/kubernetes#140438): what it places against the constraint is no answer.
 */
class AgreementTest {
  private static final String RECORDED = "/agreement/kubernetes-1.36.jsonl";

  private final Recorded recorded = Recorded.read(RECORDED);
  private final DeviceSelectors selectors = new DeviceSelectors();
  private final Allocator allocator = new Allocator(selectors);
  private final ClaimReader reader = new ClaimReader(classes()::get, selectors);

  @Test
  void whatWasRecordedIsOfTheSlicesAndClassesThatAreReallyPublished() {
    Inventory inventory =
        Inventory.EMPTY.refreshed(List.of(recorded.header().node().reported(GpuNodeSpec.Allocator.Scheduler)));
    List<ResourceSliceSpec> given =
        recorded.header().slices().stream()
            .map(slice -> Serialization.unmarshal(slice.toString(), ResourceSliceSpec.class)).toList();
    List<ResourceSliceSpec> published = SlicePlan.of(inventory.hosts().get(recorded.header().node().name()));
    assertThat(published).hasSameSizeAs(given);
    for (int i = 0; i < given.size(); i++) {
      // the publisher's, not the plan's
      given.get(i).getPool().setGeneration(published.get(i).getPool().getGeneration());
      sort(given.get(i));
      sort(published.get(i));
    }
    assertThat(published).isEqualTo(given);
    Map<String, String> expressions = new HashMap<>();
    ClassPlan.of(inventory).forEach((name, of) -> expressions.put(name, of.getFirst().getCel().getExpression()));
    assertThat(recorded.header().classes()).isEqualTo(expressions);
  }

  @Test
  void whatKubernetesPlacesOnANodeCanBePlacedThereAndNothingElse() {
    List<String> missing = new ArrayList<>();
    List<String> beyond = new ArrayList<>();
    Map<Answer, Integer> answers = new EnumMap<>(Answer.class);
    Map<Answer, Integer> answersToMonitors = new EnumMap<>(Answer.class);
    int refused = 0;
    for (int i = 0; i < recorded.cases().size(); i++) {
      Case one = recorded.cases().get(i);
      FreeCards cards = cards(one);
      Optional<ClaimRequest> understood = request(one);
      if (understood.isEmpty()) {
        refused++;
        continue;
      }
      ClaimRequest request = understood.get();
      for (Node node : one.nodes()) {
        Candidates only = host -> host.name().equals(node.name()) ? Optional.empty() : Optional.of("not this one");
        Optional<Outcome.Allocated> ours = allocator.place(PodNeeds.NONE, List.of(request), only, cards);
        ours.ifPresent(allocated -> assertPossible(one, node, allocated));
        boolean monitor =
            request.requests().getFirst().alternatives().getFirst().access() == DeviceRequest.Access.MONITOR;
        boolean wider = (monitor && node.mig()) || wantsAllOfSeveralModes(one);
        Answer kubernetes = Objects.requireNonNull(one.answers().get(node.name()));
        (monitor ? answersToMonitors : answers).merge(kubernetes, 1, Integer::sum);
        String where = "line " + (i + 2) + ": " + node + " for " + one.claim();
        if (kubernetes == Answer.PLACED && ours.isEmpty()) {
          missing.add(where);
        } else if (kubernetes == Answer.NO_PLACE && ours.isPresent() && !wider) {
          beyond.add(where + " got " + ours.get().claims().getFirst().bookings());
        }
      }
    }
    assertThat(refused).as("claims that tolerate the allocator's taint").isBetween(1, recorded.cases().size() / 2);
    assertThat(missing).as("placed by Kubernetes alone").isEmpty();
    assertThat(beyond).as("placed by us alone").isEmpty();
    assertThat(answers.get(Answer.PLACED)).as("answers of either kind").isGreaterThan(200);
    assertThat(answers.get(Answer.NO_PLACE)).as("answers of either kind").isGreaterThan(200);
    assertThat(answersToMonitors.get(Answer.PLACED)).as("of adminAccess").isGreaterThan(20);
    assertThat(answersToMonitors.get(Answer.NO_PLACE)).as("of adminAccess").isGreaterThan(10);
  }

  private boolean wantsAllOfSeveralModes(Case one) {
    return one.claim().findParents("allocationMode").stream()
        .anyMatch(request -> request.get("allocationMode").asText().equals("All")
            && recorded.header().custom().containsKey(request.get("deviceClassName").asText()));
  }

  /** Whether there is a place does not depend on the order of devices. */
  private static void sort(ResourceSliceSpec slice) {
    slice.setDevices(slice.getDevices().stream().sorted(Comparator.comparing(Device::getName)).toList());
  }

  private static FreeCards cards(Case one) {
    Books books = new Books();
    one.nodes().forEach(node -> books.put("holders on " + node.name(), node.bookings()));
    FreeCards cards = new FreeCards(books);
    cards.refresh(Inventory.EMPTY
        .refreshed(one.nodes().stream().map(node -> node.reported(GpuNodeSpec.Allocator.Controller)).toList()));
    return cards;
  }

  /**
   * Empty for a claim that tolerates the allocator's taint: it is refused, for kube-scheduler could take what is not
   * its own.
   */
  private Optional<ClaimRequest> request(Case one) {
    ResourceClaim claim =
        Serialization.unmarshal(
            "{\"metadata\":{\"namespace\":\"default\",\"name\":\"claim\",\"uid\":\"claim\"},\"spec\":{\"devices\":"
                + one.claim() + "}}",
            ResourceClaim.class);
    return switch (reader.read(claim)) {
      case ClaimReading.Understood(ClaimRequest request) -> Optional.of(request);
      case ClaimReading.Unusable(List<String> problems) -> {
        assertThat(problems).allMatch(problem -> problem.contains(Driver.ALLOCATOR_TAINT));
        yield Optional.empty();
      }
      case ClaimReading.Foreign _ -> throw new AssertionError("a claim of another driver: " + one.claim());
    };
  }

  /** Added up apart from the allocator: a card is held as a whole once, or by shares within what it has. */
  private static void assertPossible(Case one, Node node, Outcome.Allocated allocated) {
    assertThat(allocated.node()).isEqualTo(node.name());
    List<Booking> held = new ArrayList<>(node.bookings());
    allocated.claims().forEach(claim -> held.addAll(claim.bookings()));
    for (int index = 0; index < node.cards().size(); index++) {
      int card = index;
      List<Booking> here = held.stream().filter(booking -> booking.card().index() == card).toList();
      String what = node + " with " + one.claim();
      if (here.stream().anyMatch(booking -> booking.device().mode() == DeviceMode.WHOLE)) {
        assertThat(here).as(what).hasSize(1);
      }
      assertThat(here.stream().map(booking -> booking.device().mode()).distinct().count()).as(what)
          .isLessThanOrEqualTo(1);
      assertThat(here.stream().mapToLong(Booking::memory).sum()).as(what)
          .isLessThanOrEqualTo(node.cards().get(card).memoryBytes());
      assertThat(here.stream().mapToInt(Booking::cores).sum()).as(what).isLessThanOrEqualTo(100);
    }
  }

  private Map<String, DeviceClass> classes() {
    Map<String, DeviceClass> classes = new HashMap<>();
    recorded.header().custom().forEach((name, expression) -> classes.put(name, selecting(name, expression).build()));
    recorded
        .header()
        .classes()
        .forEach(
            (name, expression) -> classes.put(
                name,
                selecting(name, expression).editMetadata()
                    .addToLabels("app.kubernetes.io/managed-by", "partita-dra-controller").endMetadata().build()));
    return classes;
  }

  private static DeviceClassBuilder selecting(String name, String expression) {
    return new DeviceClassBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .addNewSelector()
        .withNewCel(expression)
        .endSelector()
        .endSpec();
  }
}
