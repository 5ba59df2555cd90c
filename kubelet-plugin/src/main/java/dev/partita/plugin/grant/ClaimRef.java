package dev.partita.plugin.grant;

/** A claim, as kubelet names it; written {@code namespace/name:uid} in logs. */
public record ClaimRef(String namespace, String name, String uid) {
  private static final int LONGEST_UID = 64;

  public ClaimRef {
    if (!isUid(uid)) {
      throw new IllegalArgumentException("not a claim's UID: \"" + uid + "\"");
    }
  }

  /**
   * Whether a text can be a UID: 1 to 64 letters, digits and, inside, dashes. A UID becomes part of paths. There is no
   * regular expression, since every claim that is prepared has the names of all others looked at.
   */
  public static boolean isUid(String text) {
    int last = text.length() - 1;
    if (last < 0 || last >= LONGEST_UID) {
      return false;
    }
    for (int i = 0; i <= last; i++) {
      char c = text.charAt(i);
      boolean alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
      if (!alphanumeric && (c != '-' || i == 0 || i == last)) {
        return false;
      }
    }
    return true;
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
