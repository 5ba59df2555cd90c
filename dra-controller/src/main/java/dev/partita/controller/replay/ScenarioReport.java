package dev.partita.controller.replay;

import java.util.Locale;

/**
 * What came of a scenario.
 *
 * @param cut the time limit ended it
 * @param nsPerClaim mean time of a claim, ns: release of another, search and booking
 * @param prepareNs mean time of a claim before the search, ns
 * @param gpusTouched cards that are in use in the end
 * @param gpusFloor cores in use, in cards: fewer is impossible
 * @param freeNodes nodes of which nothing is in use in the end
 * @param placements a hash of where each claim went, in their order: equal where every claim went to the same cards
 */
public record ScenarioReport(
    String scenario,
    int allocated,
    int failed,
    boolean cut,
    long nsPerClaim,
    long p50Ns,
    long p99Ns,
    long prepareNs,
    int gpus,
    int gpusTouched,
    long gpusFloor,
    int freeNodes,
    long placements) {
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
        nsPerClaim,
        p50Ns,
        p99Ns,
        nsPerClaim == 0 ? 0 : 1e9 / nsPerClaim,
        prepareNs,
        nsPerClaim - prepareNs,
        gpus,
        gpusTouched,
        gpusFloor,
        freeNodes,
        placements);
  }
}
