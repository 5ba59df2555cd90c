package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.api.Amount;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The GPU resources that one container asks for: whole numbers by resource name. */
public final class ResourceRequests {
  private final JsonNode container;
  private final String path;
  private final SortedMap<String, Long> amounts;

  private ResourceRequests(JsonNode container, String path, SortedMap<String, Long> amounts) {
    this.container = container;
    this.path = path;
    this.amounts = amounts;
  }

  /**
   * Reads limits, and requests where there is no limit.
   *
   * @param path of the container, as {@code spec.containers[0]}
   * @param problems takes what cannot be read, and requests that differ from their limits
   */
  public static ResourceRequests read(JsonNode container, String path, List<FieldError> problems) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    JsonNode resources = container.path("resources");
    for (String kind : List.of("limits", "requests")) {
      JsonNode given = resources.path(kind);
      for (String name : namesIn(given)) {
        String where = path + ".resources." + kind + "[" + name + "]";
        long amount = amount(given.path(name), most(name), where, problems);
        Long limit = amounts.putIfAbsent(name, amount);
        if (limit != null && limit != amount) {
          problems
              .add(new FieldError(where, "is " + amount + " and the limit " + limit + "; for GPUs they must be equal"));
        }
      }
    }
    return new ResourceRequests(container, path, amounts);
  }

  /** The names of GPU resources among the fields of an object, in order. */
  public static SortedSet<String> namesIn(JsonNode amounts) {
    SortedSet<String> names = new TreeSet<>();
    amounts.fieldNames().forEachRemaining(name -> Dialect.of(name).ifPresent(dialect -> names.add(name)));
    return names;
  }

  private static long most(String name) {
    return Dialect.of(name).map(Dialect::reader).orElseThrow() instanceof DialectReader.OfResources reader
        ? reader.most(name)
        : DialectReader.OfResources.MOST;
  }

  /** Whether there is anything more than nothing asked for. */
  public boolean isNothing() {
    return amounts.values().stream().allMatch(amount -> amount == 0);
  }

  /** Names of what is asked for, zeros included. */
  public Collection<String> names() {
    return amounts.keySet();
  }

  /** Names of what is asked for, without zeros. */
  public List<String> wanted() {
    return names().stream().filter(name -> of(name) > 0).toList();
  }

  /** Where a user finds the first of them. */
  public String firstPath() {
    List<String> wanted = wanted();
    return pathOf(wanted.isEmpty() ? amounts.firstKey() : wanted.getFirst());
  }

  /**
   * The one resource that is asked for, where each stands for a sort of device.
   *
   * @param sort of devices that a resource stands for, for people
   * @param problems takes the second resource that is asked for: the claim of a container asks for one sort
   */
  String one(String sort, List<FieldError> problems) {
    List<String> wanted = wanted();
    if (wanted.size() > 1) {
      problems.add(new FieldError(pathOf(wanted.get(1)), "is a second " + sort
          + " in one container, whose claim asks for one; make the claim by hand, with a request each"));
    }
    return wanted.getFirst();
  }

  /** What is asked for; 0 if nothing. */
  long of(String name) {
    return amounts.getOrDefault(name, 0L);
  }

  boolean mentions(String name) {
    return amounts.containsKey(name);
  }

  JsonNode container() {
    return container;
  }

  String path() {
    return path;
  }

  /** Where a user finds the amount. */
  public String pathOf(String name) {
    String kind = container.path("resources").path("limits").has(name) ? "limits" : "requests";
    return path + ".resources." + kind + "[" + name + "]";
  }

  private static long amount(JsonNode value, long most, String where, List<FieldError> problems) {
    try {
      BigDecimal amount = Amount.of(new Quantity(value.asText()));
      if (amount.signum() >= 0 && amount.compareTo(BigDecimal.valueOf(most)) <= 0
          && amount.stripTrailingZeros().scale() <= 0) {
        return amount.longValueExact();
      }
    } catch (IllegalArgumentException _) {
      // Said below.
    }
    problems.add(new FieldError(where, "is not a whole number from 0 to " + most + ": " + value));
    return 0;
  }
}
