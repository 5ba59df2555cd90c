package dev.partita.controller.web.view;

import java.util.List;
import java.util.function.Function;

/**
 * One page of a list: a page of the browser must stay small, however large the cluster is.
 *
 * @param total rows of all pages
 * @param page which one this is, from 1
 * @param pages how many there are, at least 1
 * @param rows of this page
 */
public record Paged<T>(int total, int page, int pages, List<T> rows) {
  /** Rows of a page. */
  static final int SIZE = 50;

  public Paged {
    rows = List.copyOf(rows);
  }

  /**
   * Makes the rows of the page that is asked for, or of the last one if there are fewer.
   *
   * @param all what has a row, in order
   */
  static <A, T> Paged<T> of(List<A> all, Query query, Function<A, T> row) {
    int pages = Math.max(1, (all.size() + SIZE - 1) / SIZE);
    int page = Math.min(query.page(), pages);
    List<A> shown = all.subList((page - 1) * SIZE, Math.min(page * SIZE, all.size()));
    return new Paged<>(all.size(), page, pages, shown.stream().map(row).toList());
  }
}
