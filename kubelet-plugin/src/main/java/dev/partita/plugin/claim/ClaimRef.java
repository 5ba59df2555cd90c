package dev.partita.plugin.claim;

import java.util.regex.Pattern;

/** A claim, as kubelet names it; written {@code namespace/name:uid} in logs. */
public record ClaimRef(String namespace, String name, String uid) {
  private static final Pattern UID = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?");

  public ClaimRef {
    if (!isUid(uid)) {
      throw new IllegalArgumentException("not a claim's UID: \"" + uid + "\"");
    }
  }

  /** Whether a text can be a UID; a UID becomes part of paths. */
  public static boolean isUid(String text) {
    return UID.matcher(text).matches();
  }

  /** {@code namespace/name}. */
  public String qualifiedName() {
    return namespace + "/" + name;
  }

  @Override
  public String toString() {
    return namespace + "/" + name + ":" + uid;
  }
}
