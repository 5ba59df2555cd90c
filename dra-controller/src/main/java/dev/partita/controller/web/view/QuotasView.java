package dev.partita.controller.web.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.partita.api.Bytes;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.quota.QuotaLedger;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What namespaces may have, and have.
 *
 * @param quotas those that are asked for, by name
 */
public record QuotasView(Paged<Row> quotas) {
  /** Namespaces that are named for one limit; the others count together. */
  static final int MOST_NAMED = 20;

  private static final Comparator<NamespaceRow> MOST_FIRST =
      Comparator.comparingLong(NamespaceRow::memory).thenComparing(NamespaceRow::cores)
          .thenComparing(NamespaceRow::cards).reversed().thenComparing(NamespaceRow::namespace);

  /**
   * A GpuQuota.
   *
   * @param namespaces how many it holds for
   * @param problem why it has no effect, or not all of it; empty if it is in order
   */
  public record Row(String name, int namespaces, String problem, List<LimitRow> limits) {
    public Row {
      limits = List.copyOf(limits);
    }
  }

  /**
   * One of its limits.
   *
   * @param models the cards that count; all if empty
   * @param borrows whether more is used than is guaranteed
   * @param namespaces who has most of it, the most first
   */
  public record LimitRow(
      String name,
      List<String> models,
      boolean borrows,
      List<AmountRow> amounts,
      List<NamespaceRow> namespaces) {
    public LimitRow {
      models = List.copyOf(models);
      amounts = List.copyOf(amounts);
      namespaces = List.copyOf(namespaces);
    }
  }

  /**
   * What a namespace has of what a limit counts; memory in bytes, cores in percent of a card.
   *
   * @param namespace empty for all that are not named: they have less, or the viewer may not see their claims
   */
  public record NamespaceRow(String namespace, long memory, long cores, long cards, long claims) {
    private static final NamespaceRow OTHERS = new NamespaceRow("", 0, 0, 0, 0);

    private static NamespaceRow of(QuotaLedger.NamespaceUse use) {
      Amounts used = use.used();
      return new NamespaceRow(use.namespace(), orZero(bytes(used.memory())), orZero(used.cores()),
          orZero(used.cards()), orZero(used.claims()));
    }

    private NamespaceRow plus(NamespaceRow more) {
      return new NamespaceRow(namespace, memory + more.memory, cores + more.cores, cards + more.cards,
          claims + more.claims);
    }
  }

  /**
   * What a limit names; memory in bytes, cores in percent of a card.
   *
   * @param resource memory, cores, cards or claims
   * @param guaranteed null if only a burst is named
   * @param burst beyond what is guaranteed; null if there is none
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record AmountRow(String resource, long used, @Nullable Long guaranteed, @Nullable Long burst) {}

  /**
   * Those that are asked for: by a part of their name, or of a limit's.
   *
   * @param uses which namespaces have something, by the quota's name and the limit's
   */
  public static QuotasView of(
      Collection<GpuQuota> quotas,
      Map<String, Map<String, List<QuotaLedger.NamespaceUse>>> uses,
      Query query,
      Sight sight) {
    List<GpuQuota> meant =
        quotas.stream()
            .filter(quota -> query.matches(quota.getMetadata().getName())
                || spec(quota).limits().stream().anyMatch(limit -> query.matches(limit.name())))
            .sorted(Comparator.comparing(quota -> quota.getMetadata().getName()))
            .toList();
    return new QuotasView(
        Paged.of(meant, query, quota -> row(quota, uses.getOrDefault(quota.getMetadata().getName(), Map.of()), sight)));
  }

  private static GpuQuotaSpec spec(GpuQuota quota) {
    return Objects.requireNonNullElse(quota.getSpec(), GpuQuotaSpec.NOBODY);
  }

  private static Row row(GpuQuota quota, Map<String, List<QuotaLedger.NamespaceUse>> uses, Sight sight) {
    GpuQuotaStatus status =
        Objects.requireNonNullElse(quota.getStatus(), new GpuQuotaStatus(0, null, "", List.of(), ""));
    return new Row(quota.getMetadata().getName(), status.namespaces(), status.problem(),
        spec(quota).limits().stream()
            .map(limit -> row(limit, status, namespaces(uses.getOrDefault(limit.name(), List.of()), sight)))
            .toList());
  }

  private static List<NamespaceRow> namespaces(List<QuotaLedger.NamespaceUse> uses, Sight sight) {
    List<NamespaceRow> named = new ArrayList<>();
    NamespaceRow others = NamespaceRow.OTHERS;
    for (NamespaceRow row : uses.stream().map(NamespaceRow::of).sorted(MOST_FIRST).toList()) {
      if (named.size() < MOST_NAMED && sight.claimsOf(row.namespace())) {
        named.add(row);
      } else {
        others = others.plus(row);
      }
    }
    if (!others.equals(NamespaceRow.OTHERS)) {
      named.add(others);
    }
    return named;
  }

  private static LimitRow row(GpuQuotaSpec.Limit limit, GpuQuotaStatus status, List<NamespaceRow> namespaces) {
    GpuQuotaStatus.LimitUse use =
        status.limits().stream().filter(each -> each.name().equals(limit.name())).findFirst()
            .orElse(new GpuQuotaStatus.LimitUse(limit.name(), Amounts.UNLIMITED, false));
    List<AmountRow> amounts = new ArrayList<>();
    add(amounts, "memory", bytes(use.used().memory()), bytes(limit.guaranteed().memory()),
        bytes(limit.burst().memory()));
    add(amounts, "cores", use.used().cores(), limit.guaranteed().cores(), limit.burst().cores());
    add(amounts, "cards", use.used().cards(), limit.guaranteed().cards(), limit.burst().cards());
    add(amounts, "claims", use.used().claims(), limit.guaranteed().claims(), limit.burst().claims());
    return new LimitRow(limit.name(), limit.models(), use.borrows(), amounts, namespaces);
  }

  private static void add(
      List<AmountRow> amounts,
      String resource,
      @Nullable Long used,
      @Nullable Long guaranteed,
      @Nullable Long burst) {
    if (guaranteed != null || burst != null) {
      amounts.add(new AmountRow(resource, orZero(used), guaranteed, burst));
    }
  }

  private static long orZero(@Nullable Long amount) {
    return amount == null ? 0 : amount;
  }

  private static @Nullable Long bytes(@Nullable Quantity quantity) {
    return quantity == null ? null : Bytes.of(quantity);
  }
}
