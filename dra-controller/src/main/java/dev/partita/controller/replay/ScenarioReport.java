package dev.partita.controller.replay;

import java.util.Locale;

/**
 * The result of a scenario.
 *
 * @param cut the time limit ended it
 * @param placements a hash of where each claim went, in their order: equal where every claim went to the same cards
 */
public record ScenarioReport(
    String scenario,
    int allocated,
    int failed,
    boolean cut,
    Times times,
    CardUse cards,
    long placements) {
  /**
   * How long claims took, ns.
   *
   * @param mean of a claim: release of another, search and booking
   * @param p50 the median
   * @param p99 what 99 % of claims took at most
   * @param prepare mean of what a claim takes before the search
   */
  public record Times(long mean, long p50, long p99, long prepare) {}

  /**
   * How much is in use in the end.
   *
   * @param all how many cards there are
   * @param touched cards that are in use
   * @param floor cores in use, in cards: fewer is impossible
   * @param freeNodes nodes of which nothing is in use
   */
  public record CardUse(int all, int touched, long floor, int freeNodes) {}

  /** One line with the names of the comparison's output; one call of ours decides about all nodes. */
  public String json() {
    return String.format(
        Locale.ROOT,
        "{\"scenario\":\"%s\",\"version\":\"partita\",\"workers\":1,\"allocated\":%d,\"failed\":%d,\"cut\":%b,\"estimated\":false,"
            + "\"nsPerClaim\":%d,\"p50Ns\":%d,\"p99Ns\":%d,\"claimsPerSec\":%.1f,\"prepareNs\":%d,\"nsPerNode\":%d,\"nodesPerClaim\":1,"
            + "\"nodesWanted\":1,\"gpus\":%d,\"gpusTouched\":%d,\"gpusFloor\":%d,\"freeNodes\":%d,\"placements\":\"%016x\"}",
        scenario,
        allocated,
        failed,
        cut,
        times.mean(),
        times.p50(),
        times.p99(),
        times.mean() == 0 ? 0 : 1e9 / times.mean(),
        times.prepare(),
        times.mean() - times.prepare(),
        cards.all(),
        cards.touched(),
        cards.floor(),
        cards.freeNodes(),
        placements);
  }
}
