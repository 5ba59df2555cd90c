package dev.partita.plugin.dra;

import dev.partita.plugin.grant.ClaimRef;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The claims of one call. A text that cannot be a UID is refused, since UIDs become part of paths. */
final class RequestedClaims {
  private final Set<ClaimRef> claims = new LinkedHashSet<>();
  private final Map<String, String> refused = new TreeMap<>();

  void add(String namespace, String name, String uid) {
    if (ClaimRef.isUid(uid)) {
      claims.add(new ClaimRef(namespace, name, uid));
    } else {
      refused.put(uid, "\"" + uid + "\" is not the UID of a claim");
    }
  }

  /** Those that can be claims, in the order of the call, each once. */
  Set<ClaimRef> claims() {
    return claims;
  }

  /** Why the others are refused, by the text that stands for their UID. */
  Map<String, String> refused() {
    return refused;
  }
}
