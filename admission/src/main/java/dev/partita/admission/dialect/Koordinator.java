package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Cores and memory in percent of a card, or memory in bytes, of a number of cards together ({@code gpu.shared}), over
 * which they are spread evenly. Without that number hundreds of percent are cards, and less is a part of one. All of a
 * card's cores and memory without a number are cards of one's own (koordinator, deviceshare's utils.go). What enforces
 * its shares is HAMi's library, which reads HAMi's environment (pkg/koordlet/runtimehooks/hooks/gpu).
 */
final class Koordinator implements DialectReader.OfResources {
  private static final String DOMAIN = "koordinator.sh/";
  private static final String BOTH = DOMAIN + "gpu";
  private static final String CORES = DOMAIN + "gpu-core";
  private static final String MEMORY = DOMAIN + "gpu-memory";
  private static final String RATIO = DOMAIN + "gpu-memory-ratio";
  private static final String SHARED = DOMAIN + "gpu.shared";

  /** As its documentation writes it in places. */
  private static final String SHARED_TOO = DOMAIN + "gpu-shared";

  /**
   * Names of before 1.0, which its scheduler takes for the present ones (koordinator, apis/extension/deprecated.go).
   */
  private static final Map<String, String> FORMER = Stream.of(BOTH, CORES, MEMORY, RATIO)
      .collect(Collectors.toUnmodifiableMap(Function.identity(), name -> name.replace(DOMAIN, "kubernetes.io/")));

  /** They choose cards by what is not converted: beside which NIC, in which partition of the switches, which ones. */
  static final List<String> REFUSED = List.of("scheduling.koordinator.sh/device-joint-allocate",
      "scheduling.koordinator.sh/gpu-partition-spec", "scheduling.koordinator.sh/device-allocate-hint");

  /** Devices that are no cards, which its scheduler gives as well. */
  private static final Pattern OTHER_DEVICES = Pattern.compile(Pattern.quote(DOMAIN) + "(rdma|fpga)");

  /** Beside one of these the resources above are of that vendor's card (koordinator.sh, Device Scheduling). */
  private static final Pattern OTHER_VENDORS =
      Pattern.compile("(cambricon|metax-tech|hygon)[.]com/.*|huawei[.]com/(Ascend|npu).*");

  @Override
  public Set<String> resources() {
    return Stream.concat(Stream.of(BOTH, CORES, MEMORY, RATIO, SHARED, SHARED_TOO), FORMER.values().stream())
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Memory is in bytes, of all cards together. */
  @Override
  public long most(String resource) {
    return resource.equals(MEMORY) || resource.equals(FORMER.get(MEMORY))
        ? GpuRequest.MAX_COUNT * Cards.MOST_BYTES
        : MOST;
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    for (String name : REFUSED) {
      pod.annotation(name)
          .ifPresent(_ -> problems.add(new FieldError(pod.annotationPath(name), "is not converted")));
    }
    otherVendor(asked).ifPresent(problems::add);
    Amounts amounts = new Amounts(asked);
    amounts.twice().ifPresent(problems::add);
    boolean inOne = amounts.of(BOTH) > 0;
    if (inOne && (amounts.of(CORES) > 0 || amounts.of(MEMORY) > 0 || amounts.of(RATIO) > 0)) {
      problems.add(new FieldError(amounts.path(BOTH), "is cores and memory in one, and there are others beside it"));
    }
    long memory = amounts.of(MEMORY);
    if (memory > 0 && amounts.of(RATIO) > 0) {
      problems.add(new FieldError(amounts.path(RATIO),
          "cannot be used together with " + MEMORY + "; leave one of them out"));
    }
    long cores = amounts.of(inOne ? BOTH : CORES);
    long ratio = amounts.of(inOne ? BOTH : RATIO);
    if (ratio == 0 && memory == 0) {
      problems.add(new FieldError(asked.firstPath(),
          MEMORY + " is missing: a share is asked for by memory, or by " + RATIO));
    }
    long shared = Math.max(asked.of(SHARED), asked.of(SHARED_TOO));
    long cards = shared > 0 ? shared : Math.max(1, Math.max(cores, ratio) / 100);
    OptionalInt count =
        Cards.count(cards, shared > 0 ? asked.firstPath() : amounts.path(inOne ? BOTH : RATIO), problems);
    OptionalInt percent = ofEach(cores, cards, amounts.path(inOne ? BOTH : CORES), problems);
    OptionalInt part = ofEach(ratio, cards, amounts.path(inOne ? BOTH : RATIO), problems);
    if (memory % cards != 0) {
      problems.add(new FieldError(amounts.path(MEMORY), "cannot be spread evenly over " + cards + " cards"));
    }
    Cards.fits(memory / cards, amounts.path(MEMORY), problems);
    Optional<String> coreLimit = CorePolicy.HAMI.coreLimit(asked, pod, problems);
    reported.addAll(problems);
    if (!problems.isEmpty() || count.isEmpty()) {
      return Optional.empty();
    }
    boolean whole = shared == 0 && part.orElse(0) == 100 && percent.orElse(0) == 100;
    Memory ofEach =
        part.isPresent() ? Cards.memory(part.getAsInt(), pod.cluster()) : new Memory.Bytes(memory / cards);
    if (whole) {
      return Optional.of(new GpuRequest(count.getAsInt(), new Portion.Whole(), CardChoice.ANY, ShareOptions.NONE));
    }
    return Optional.of(new GpuRequest(count.getAsInt(), new Portion.Share(ofEach, percent), CardChoice.ANY,
        coreLimit.map(ShareOptions.NONE::withCoreLimit).orElse(ShareOptions.NONE)));
  }

  @Override
  public List<FieldError> notes(ResourceRequests asked, PodContext pod) {
    List<FieldError> notes =
        new ArrayList<>(LibraryVariable.notes(LibraryVariable.HAMI, asked.container(), asked.path()));
    first(OTHER_DEVICES, asked).ifPresent(path -> notes.add(new FieldError(path,
        "stays, and is for Koordinator's scheduler to give: Partita allocates cards, and chooses none by what is beside"
            + " it")));
    return notes;
  }

  private static Optional<FieldError> otherVendor(ResourceRequests asked) {
    return first(OTHER_VENDORS, asked).map(path -> new FieldError(path,
        "says that the card is another vendor's, and Partita divides NVIDIA's cards"));
  }

  /** Where a container asks for such a resource. */
  private static Optional<String> first(Pattern names, ResourceRequests asked) {
    for (String kind : List.of("limits", "requests")) {
      for (var amount : asked.container().path("resources").path(kind).properties()) {
        if (names.matcher(amount.getKey()).matches()) {
          return Optional.of(asked.path() + ".resources." + kind + "[" + amount.getKey() + "]");
        }
      }
    }
    return Optional.empty();
  }

  /** Reads what a container asks for by the present names, also where it is written by the former ones. */
  private record Amounts(ResourceRequests asked) {
    long of(String name) {
      return asked.of(written(name));
    }

    String path(String name) {
      return asked.pathOf(written(name));
    }

    /** Where a container says one thing by both names. */
    Optional<FieldError> twice() {
      return FORMER.entrySet().stream().filter(each -> asked.of(each.getKey()) > 0 && asked.of(each.getValue()) > 0)
          .map(each -> new FieldError(asked.pathOf(each.getValue()),
              "is the former name of " + each.getKey() + ", which is asked for as well; leave one of them out"))
          .findFirst();
    }

    private String written(String name) {
      String former = FORMER.getOrDefault(name, name);
      return asked.of(name) == 0 && asked.mentions(former) ? former : name;
    }
  }

  /** What of an amount in percent each card has; empty if none is asked for, or if it cannot be spread. */
  private static OptionalInt ofEach(long percent, long cards, String path, List<FieldError> problems) {
    if (percent == 0) {
      return OptionalInt.empty();
    }
    if (percent % cards != 0 || percent / cards > 100) {
      problems.add(new FieldError(path,
          percent + " percent cannot be spread over " + cards + (cards == 1 ? " card" : " cards")
              + " in whole percent, 1 to 100 of each"));
      return OptionalInt.empty();
    }
    return OptionalInt.of((int) (percent / cards));
  }
}
