package dev.partita.plugin.claimstatus;

import dev.partita.api.Bytes;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a claim was given, in words and in flat data. */
final class ClaimWords {
  private ClaimWords() {}

  /** {@code 8 GiB of NVIDIA H200 (GPU-…) on node-0, at most 25 % of its time}. */
  static String message(Grant grant, String nodeName) {
    String card = grant.card().productName() + " (" + grant.card().uuid() + ") on " + nodeName;
    return switch (grant.use()) {
      case Grant.Whole whole -> (whole.adminAccess() ? "admin access to " : "whole ") + card;
      case Grant.Mig mig -> "MIG instance " + mig.profile() + " (" + Bytes.words(mig.memoryBytes()) + ") of " + card;
      case Grant.Share share -> Bytes.words(share.memoryBytes()) + physical(share) + " of " + card + cores(share)
          + (share.exclusive() ? ", nobody else on it" : "");
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
    grant.mig().ifPresent(mig -> data.put("migProfile", mig.profile()));
    data.put("memoryLimit", Bytes.quantity(memory(grant)).toString());
    data.put("coreLimit",
        grant.share().filter(ClaimWords::limitsCores).map(s -> String.valueOf(s.cores())).orElse("none"));
    return data;
  }

  private static long memory(Grant grant) {
    return switch (grant.use()) {
      case Grant.Whole _ -> grant.card().memoryBytes();
      case Grant.Mig mig -> mig.memoryBytes();
      case Grant.Share share -> share.memoryBytes();
    };
  }

  private static boolean limitsCores(Grant.Share share) {
    return switch (share.coreLimit()) {
      case HARD, SOFT -> share.cores() > 0;
      case NONE -> false;
    };
  }

  private static String physical(Grant.Share share) {
    return share.physicalBytes() == share.memoryBytes()
        ? ""
        : " (" + Bytes.words(share.physicalBytes()) + " of it on the card)";
  }

  private static String cores(Grant.Share share) {
    if (share.cores() == 0) {
      return "";
    }
    return switch (share.coreLimit()) {
      case HARD -> ", at most " + share.cores() + " % of its time";
      case SOFT -> ", " + share.cores() + " % of its time, more when it is idle";
      case NONE -> ", " + share.cores() + " % of its time, not enforced";
    };
  }
}
