package dev.partita.plugin.claimstatus;

import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a claim was given, in words and in flat data. */
final class ClaimWords {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  private ClaimWords() {}

  /** {@code 8 GiB of NVIDIA H200 (GPU-…) on node-0, 25 % of its cores}. */
  static String message(Grant grant, String nodeName) {
    String card = grant.card().productName() + " (" + grant.card().uuid() + ") on " + nodeName;
    return switch (grant.use()) {
      case Grant.Whole whole -> (whole.adminAccess() ? "admin access to " : "whole ") + card;
      case Grant.Share share -> amount(share.memoryBytes()) + " of " + card + cores(share);
    };
  }

  static String message(List<Grant> grants, String nodeName) {
    return grants.stream().map(grant -> message(grant, nodeName)).collect(Collectors.joining("; "));
  }

  /** Scalars only, so that {@code kubectl describe} shows one a line. */
  static Map<String, String> data(ClaimRef claim, Grant grant, String nodeName) {
    Map<String, String> data = new TreeMap<>();
    data.put("gpuUUID", grant.card().uuid());
    data.put("productName", grant.card().productName());
    data.put("node", nodeName);
    data.put("cdiDevice", CdiName.idOf(claim, grant));
    data.put("memoryLimit", quantity(grant.share().map(Grant.Share::memoryBytes).orElse(grant.card().memoryBytes())));
    data.put("coreLimit", grant.share().filter(ClaimWords::limitsCores).map(s -> String.valueOf(s.cores())).orElse("none"));
    return data;
  }

  private static boolean limitsCores(Grant.Share share) {
    return switch (share.coreLimit()) {
      case HARD, SOFT -> share.cores() > 0;
      case NONE -> false;
    };
  }

  private static String cores(Grant.Share share) {
    if (share.cores() == 0) {
      return "";
    }
    return switch (share.coreLimit()) {
      case HARD -> ", " + share.cores() + " % of its cores";
      case SOFT -> ", " + share.cores() + " % of its cores, more when idle";
      case NONE -> ", " + share.cores() + " % of its cores, not enforced";
    };
  }

  private static String amount(long bytes) {
    if (bytes < GIB) {
      return bytes % MIB == 0 ? bytes / MIB + " MiB" : bytes + " bytes";
    }
    return bytes % GIB == 0 ? bytes / GIB + " GiB" : String.format(Locale.ROOT, "%.1f GiB", (double) bytes / GIB);
  }

  private static String quantity(long bytes) {
    if (bytes % GIB == 0) {
      return bytes / GIB + "Gi";
    }
    return bytes % MIB == 0 ? bytes / MIB + "Mi" : String.valueOf(bytes);
  }
}
