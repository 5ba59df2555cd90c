package dev.partita.controller.request;

/** A ResourceClaim. */
public record ClaimRef(String namespace, String name, String uid) {
  /** As logs name it: {@code namespace/name:uid}. */
  @Override
  public String toString() {
    return namespace + "/" + name + ":" + uid;
  }
}
