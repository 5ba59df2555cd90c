package dev.partita.plugin.claim;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A claim that is being or has been prepared.
 *
 * @param claim which one
 * @param phase how far it is
 * @param bootId of the kernel under which that was
 * @param grants its devices
 * @param env variables of each share's containers, by share key
 * @param mixed whether a container has a whole card of this claim beside a share, so that whole cards come with the
 *        shadow libraries too
 * @param names by which its device metadata goes; empty where they are not known, for a plugin has prepared it that
 *        wrote none: then it has no metadata
 */
public record PreparedClaim(
    ClaimRef claim,
    Phase phase,
    String bootId,
    List<Grant> grants,
    Map<String, List<String>> env,
    boolean mixed,
    Optional<MetadataNames> names) {

  /** Written ahead: STARTED before the first effect, COMPLETED after the last. */
  public enum Phase {
    STARTED,
    COMPLETED
  }

  public PreparedClaim {
    grants = List.copyOf(grants);
    env = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(env));
  }

  /** A claim that has no device metadata. */
  public PreparedClaim(
      ClaimRef claim,
      Phase phase,
      String bootId,
      List<Grant> grants,
      Map<String, List<String>> env,
      boolean mixed) {
    this(claim, phase, bootId, grants, env, mixed, Optional.empty());
  }

  /** The same in another phase. */
  public PreparedClaim in(Phase next) {
    return new PreparedClaim(claim, next, bootId, grants, env, mixed, names);
  }

  /** The same under another kernel. */
  public PreparedClaim under(String otherBootId) {
    return new PreparedClaim(claim, phase, otherBootId, grants, env, mixed, names);
  }

  /** The same with its devices as they are now. */
  public PreparedClaim with(List<Grant> others) {
    return new PreparedClaim(claim, phase, bootId, others, env, mixed, names);
  }

  /** The same with nothing lent to it. */
  public PreparedClaim withoutLoans() {
    return with(grants.stream().map(grant -> grant.lent(0)).toList());
  }

  /** The requests that its devices answer, without subrequests. */
  public List<String> requests() {
    return grants.stream().flatMap(grant -> grant.requests().stream()).distinct().toList();
  }
}
