package dev.partita.api.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.Driver;
import dev.partita.api.Excerpt;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the opaque {@code parameters} of a device config. Strict: an unknown field, a wrong type or an unknown value is
 * an error that names the field, all errors are found at once, and what is not written takes its default.
 */
public final class GpuShareConfigDecoder {
  private static final ObjectMapper MAPPER = JsonMapper.builder().build();

  private static final Map<String, CoreLimit> CORE_LIMITS =
      Map.of("Hard", CoreLimit.HARD, "Soft", CoreLimit.SOFT, "None", CoreLimit.NONE);
  private static final Map<String, Packing> PACKINGS =
      Map.of("Auto", Packing.AUTO, "Binpack", Packing.BINPACK, "Spread", Packing.SPREAD);
  private static final Map<String, Affinity> AFFINITIES =
      Map.of("None", Affinity.NONE, "Auto", Affinity.AUTO, "Preferred", Affinity.PREFERRED, "Required",
          Affinity.REQUIRED);

  private static final Map<String, Strategy> STRATEGIES =
      Map.of("Limits", Strategy.LIMITS, "TimeSlicing", Strategy.TIME_SLICING, "MPS", Strategy.MPS);
  private static final Map<String, TimeSlice> TIME_SLICES =
      Map.of("Default", TimeSlice.DEFAULT, "Short", TimeSlice.SHORT, "Medium", TimeSlice.MEDIUM, "Long",
          TimeSlice.LONG);

  private enum Strategy {
    LIMITS,
    TIME_SLICING,
    MPS
  }

  /** As many values as a selector of the API may have (resource.k8s.io/v1). */
  private static final int MOST_VALUES = 64;

  /** Characters of a wrong value that an error says. */
  private static final int QUOTED = 200;

  private static final Pattern UUID = Pattern.compile("GPU-[0-9A-Za-z-]{1,60}");

  private GpuShareConfigDecoder() {}

  /**
   * Decodes {@code parameters} as a Kubernetes client hands them out: a map, a tree or any value that Jackson turns
   * into a JSON object. The client takes whatever has apiVersion and kind for a Kubernetes object and gives it
   * metadata; empty ones that only such an object has were not written, and are no error.
   */
  public static Decoded<GpuShareConfig> decode(@Nullable Object parameters) {
    StrictObject top = StrictObject.top(asWritten(parameters));
    String apiVersion = top.text("apiVersion", "");
    if (!apiVersion.equals(Driver.GROUP_VERSION)) {
      top.report("apiVersion",
          "must be " + Driver.GROUP_VERSION + (apiVersion.isEmpty() ? "" : ", not " + quoted(apiVersion)));
    }
    String kind = top.text("kind", "");
    if (!kind.equals(GpuShareConfig.KIND)) {
      top.report("kind", "must be " + GpuShareConfig.KIND + (kind.isEmpty() ? "" : ", not " + quoted(kind)));
      return top.invalid();
    }
    GpuShareConfig defaults = GpuShareConfig.DEFAULT;
    CoreLimit coreLimit = top.choice("coreLimit", CORE_LIMITS, defaults.coreLimit());
    int priority = top.integer("priority", 0, 1, defaults.priority());
    OptionalInt memoryPercent = top.integer("memoryPercent", 1, 100);
    int oversubscribe =
        top.integer("oversubscribe", GpuShareConfig.NOT_OVERSUBSCRIBED, GpuShareConfig.MOST_OVERSUBSCRIBED,
            defaults.oversubscribe());
    OptionalLong memoryLimit = top.bytes("memoryLimit");
    StrictObject placement = top.object("placement");
    Packing nodes = placement.choice("nodes", PACKINGS, defaults.placement().nodes());
    Packing gpus = placement.choice("gpus", PACKINGS, defaults.placement().gpus());
    Affinity numa = placement.choice("numa", AFFINITIES, defaults.placement().numa());
    Affinity nvlink = placement.choice("nvlink", AFFINITIES, defaults.placement().nvlink());
    Choice models = choice(placement.object("models"), GpuShareConfigDecoder::wrongModel);
    Choice uuids = choice(placement.object("uuids"), GpuShareConfigDecoder::wrongUuid);
    boolean exclusive = placement.flag("exclusive", defaults.placement().exclusive());
    placement.refuseUnknownFields();
    Sharing sharing = sharing(top.object("sharing"));
    top.refuseUnknownFields();
    GpuShareConfig config = new GpuShareConfig(coreLimit, priority, memoryPercent, oversubscribe,
        new Placement(nodes, gpus, numa, nvlink, models, uuids, exclusive), sharing, memoryLimit);
    switch (sharing) {
      case Sharing.Limits _ -> {}
      case Sharing.TimeSlicing _ -> refuseLimits(config, top, placement);
      case Sharing.Mps _ -> refuseBesideMps(config, top, placement);
    }
    if (memoryLimit.isPresent()) {
      refuseBesideGrowth(config, top);
    }
    return top.hasErrors() ? top.invalid() : new Decoded.Valid<>(config);
  }

  /** What leaves a share nothing to grow into, or has it hold more in another way. */
  private static void refuseBesideGrowth(GpuShareConfig config, StrictObject top) {
    if (config.oversubscribe() != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      top.report("memoryLimit", "cannot be used together with oversubscribe: that is memory of the host, this is memory"
          + " of the card; leave one of them out");
    }
    if (config.placement().exclusive()) {
      top.report("memoryLimit",
          "cannot be used together with placement.exclusive, by which nobody else could have what is lent; ask for the"
              + " memory itself");
    }
  }

  private static Sharing sharing(StrictObject sharing) {
    Strategy strategy = sharing.choice("strategy", STRATEGIES, Strategy.LIMITS);
    TimeSlice interval = sharing.choice("interval", TIME_SLICES, TimeSlice.DEFAULT);
    sharing.refuseUnknownFields();
    if (strategy != Strategy.TIME_SLICING && sharing.has("interval")) {
      sharing.report("interval", "is for sharing.strategy TimeSlicing only");
    }
    return switch (strategy) {
      case LIMITS -> Sharing.LIMITS;
      case TIME_SLICING -> new Sharing.TimeSlicing(interval);
      case MPS -> Sharing.MPS;
    };
  }

  /** What says how a claim is to be held to something, or others kept off, where nobody is. */
  private static void refuseLimits(GpuShareConfig config, StrictObject top, StrictObject placement) {
    String why = "cannot be used together with sharing.strategy TimeSlicing, ";
    String noLimits = why + "which limits neither memory nor cores";
    if (config.coreLimit() != GpuShareConfig.DEFAULT.coreLimit()) {
      top.report("coreLimit", noLimits);
    }
    if (config.priority() != GpuShareConfig.DEFAULT.priority()) {
      top.report("priority", noLimits);
    }
    if (config.memoryPercent().isPresent()) {
      top.report("memoryPercent", noLimits);
    }
    if (config.oversubscribe() != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      top.report("oversubscribe", noLimits);
    }
    if (config.memoryLimit().isPresent()) {
      top.report("memoryLimit", noLimits);
    }
    if (config.placement().exclusive()) {
      placement.report("exclusive", why + "by which others have the card, too");
    }
  }

  /** What MPS has no part of, or what it cannot follow: it knows only what a program began with. */
  private static void refuseBesideMps(GpuShareConfig config, StrictObject top, StrictObject placement) {
    String why = "cannot be used together with sharing.strategy MPS, ";
    if (config.coreLimit() != GpuShareConfig.DEFAULT.coreLimit()) {
      top.report("coreLimit", why + "by which cores are a part of the card's multiprocessors, and no part of its time");
    }
    if (config.priority() != GpuShareConfig.DEFAULT.priority()) {
      top.report("priority", why + "by which nobody waits for the others");
    }
    if (config.oversubscribe() != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      top.report("oversubscribe", why + "whose memory is all on the card");
    }
    if (config.memoryLimit().isPresent()) {
      top.report("memoryLimit", why + "by which a program keeps the limit that it began with");
    }
    if (config.placement().exclusive()) {
      placement.report("exclusive", why + "by which others have the card, too");
    }
  }

  private static JsonNode asWritten(@Nullable Object parameters) {
    if (parameters instanceof JsonNode tree) {
      return tree;
    }
    JsonNode tree = MAPPER.valueToTree(parameters);
    if (parameters instanceof HasMetadata && tree instanceof ObjectNode fields && fields.path("metadata").isEmpty()) {
      fields.remove("metadata");
    }
    return tree;
  }

  /** @param wrong what is wrong with a value; empty if nothing is */
  private static Choice choice(StrictObject object, Function<String, Optional<String>> wrong) {
    SortedSet<String> choose = object.texts("choose", MOST_VALUES, wrong);
    SortedSet<String> avoid = object.texts("avoid", MOST_VALUES, wrong);
    for (String both : avoid) {
      if (choose.contains(both)) {
        object.report("avoid", "has " + both + ", which is chosen, too");
      }
    }
    object.refuseUnknownFields();
    return new Choice(choose, avoid);
  }

  private static Optional<String> wrongModel(String value) {
    String model = Driver.modelOf(value);
    return model.equals(value)
        ? Optional.empty()
        : Optional.of("must be a model as GpuNodes have it, such as \"" + model + "\", not " + quoted(value));
  }

  private static Optional<String> wrongUuid(String value) {
    return UUID.matcher(value).matches()
        ? Optional.empty()
        : Optional.of("must be the UUID of a card, GPU-…, not " + quoted(value));
  }

  private static String quoted(String written) {
    return "\"" + Excerpt.of(written, QUOTED) + "\"";
  }
}
