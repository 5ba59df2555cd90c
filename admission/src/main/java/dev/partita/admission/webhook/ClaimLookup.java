package dev.partita.admission.webhook;

/**
 * What admission knows of the cluster, from memory: it is asked while a pod's request waits. What is not known, such as
 * a template that was made a moment ago, is not ours; a pod that has no gate for that reason is served the same way,
 * later.
 */
public interface ClaimLookup {
  /** Knows nothing. */
  ClaimLookup NONE =
      new ClaimLookup() {
        @Override
        public boolean isOurClaim(String namespace, String claim) {
          return false;
        }

        @Override
        public boolean isOurTemplate(String namespace, String template) {
          return false;
        }
      };

  /** The same for all the claims of one pod, which together may take no more time than one. */
  default ClaimLookup forOnePod() {
    return this;
  }

  /** Whether there is a ResourceClaim of that name, and it asks for devices of Partita's driver. */
  boolean isOurClaim(String namespace, String claim);

  /** Whether there is a ResourceClaimTemplate of that name, and its claims ask for devices of Partita's driver. */
  boolean isOurTemplate(String namespace, String template);
}
