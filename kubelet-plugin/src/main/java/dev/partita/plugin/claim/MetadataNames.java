package dev.partita.plugin.claim;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How a claim's device metadata names the claim and its requests.
 *
 * @param podClaimName what the pod calls a claim that was made from a template; empty for one that pods refer to by its
 *        own name
 * @param alternatives of requests that gave alternatives: {@code request/subrequest} of the one that was chosen, by the
 *        request's own name
 * @param ofSeveralDrivers requests that were given other drivers' devices, too
 */
public record MetadataNames(
    Optional<String> podClaimName,
    Map<String, String> alternatives,
    Set<String> ofSeveralDrivers) {

  public MetadataNames {
    alternatives = Collections.unmodifiableSortedMap(new TreeMap<>(alternatives));
    ofSeveralDrivers = Collections.unmodifiableSortedSet(new TreeSet<>(ofSeveralDrivers));
  }

  /** A request's name as the allocation's results have it. */
  public String resultName(String request) {
    return alternatives.getOrDefault(request, request);
  }
}
