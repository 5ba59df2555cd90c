package dev.partita.plugin.prepare;

/** What has become of the MIG instances of a claim whose pod is not bound yet. */
public sealed interface Provision {
  /** They are there. */
  record Made() implements Provision {}

  /**
   * They cannot be made now, since others have their places, and may not have them much longer.
   *
   * @param reason what is in the way
   */
  record NotYet(String reason) implements Provision {}

  /** They cannot be made. */
  record Impossible(String reason) implements Provision {}
}
