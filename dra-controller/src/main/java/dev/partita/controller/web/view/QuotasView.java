package dev.partita.controller.web.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.partita.api.Bytes;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What namespaces may have, and have.
 *
 * @param quotas those that are asked for, by name
 */
public record QuotasView(Paged<Row> quotas) {
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
   */
  public record LimitRow(String name, List<String> models, boolean borrows, List<AmountRow> amounts) {
    public LimitRow {
      models = List.copyOf(models);
      amounts = List.copyOf(amounts);
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

  /** Those that are asked for: by a part of their name, or of a limit's. */
  public static QuotasView of(Collection<GpuQuota> quotas, Query query) {
    List<Row> rows =
        quotas.stream()
            .map(QuotasView::row)
            .filter(row -> query.matches(row.name())
                || row.limits().stream().anyMatch(limit -> query.matches(limit.name())))
            .sorted(Comparator.comparing(Row::name))
            .toList();
    return new QuotasView(Paged.of(rows, query, row -> row));
  }

  private static Row row(GpuQuota quota) {
    GpuQuotaSpec spec = Objects.requireNonNullElse(quota.getSpec(), GpuQuotaSpec.NOBODY);
    GpuQuotaStatus status =
        Objects.requireNonNullElse(quota.getStatus(), new GpuQuotaStatus(0, null, "", List.of(), ""));
    return new Row(quota.getMetadata().getName(), status.namespaces(), status.problem(),
        spec.limits().stream().map(limit -> row(limit, status)).toList());
  }

  private static LimitRow row(GpuQuotaSpec.Limit limit, GpuQuotaStatus status) {
    GpuQuotaStatus.LimitUse use =
        status.limits().stream().filter(each -> each.name().equals(limit.name())).findFirst()
            .orElse(new GpuQuotaStatus.LimitUse(limit.name(), Amounts.UNLIMITED, false));
    List<AmountRow> amounts = new ArrayList<>();
    add(amounts, "memory", bytes(use.used().memory()), bytes(limit.guaranteed().memory()),
        bytes(limit.burst().memory()));
    add(amounts, "cores", use.used().cores(), limit.guaranteed().cores(), limit.burst().cores());
    add(amounts, "cards", use.used().cards(), limit.guaranteed().cards(), limit.burst().cards());
    add(amounts, "claims", use.used().claims(), limit.guaranteed().claims(), limit.burst().claims());
    return new LimitRow(limit.name(), limit.models(), use.borrows(), amounts);
  }

  private static void add(
      List<AmountRow> amounts,
      String resource,
      @Nullable Long used,
      @Nullable Long guaranteed,
      @Nullable Long burst) {
    if (guaranteed != null || burst != null) {
      amounts.add(new AmountRow(resource, used == null ? 0 : used, guaranteed, burst));
    }
  }

  private static @Nullable Long bytes(@Nullable Quantity quantity) {
    return quantity == null ? null : Bytes.of(quantity);
  }
}
