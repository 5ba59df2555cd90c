package dev.partita.plugin.usage.measure;

import java.util.Comparator;

/** A share on this node: the claim's UID and the share's key. In the order in which a container charges its shares. */
public record ShareRef(String uid, String key) implements Comparable<ShareRef> {
  private static final Comparator<ShareRef> ORDER = Comparator.comparing(ShareRef::key).thenComparing(ShareRef::uid);

  @Override
  public int compareTo(ShareRef other) {
    return ORDER.compare(this, other);
  }
}
