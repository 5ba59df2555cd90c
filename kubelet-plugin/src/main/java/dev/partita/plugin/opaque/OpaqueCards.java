package dev.partita.plugin.opaque;

import dev.partita.api.config.OpaqueCard;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The opaque cards that a node's files list.
 *
 * @param byUuid those that can be offered, by the UUID that they have here
 * @param problems what is wrong in the files, each with its place; what it is about is left out
 * @param areListed whether there is any file
 */
public record OpaqueCards(SortedMap<String, OpaqueCard> byUuid, List<String> problems, boolean areListed) {
  /** Of a node without such files. */
  public static final OpaqueCards NONE = new OpaqueCards(new TreeMap<>(), List.of(), false);

  public OpaqueCards {
    byUuid = Collections.unmodifiableSortedMap(new TreeMap<>(byUuid));
    problems = List.copyOf(problems);
  }

  public Optional<OpaqueCard> of(String uuid) {
    return Optional.ofNullable(byUuid.get(uuid));
  }
}
