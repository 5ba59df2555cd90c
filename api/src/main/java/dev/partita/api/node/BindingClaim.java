package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/**
 * A claim whose pods kube-scheduler binds only once its node has made the MIG instances that the claim was allocated.
 *
 * @param namespace of the claim
 * @param name of the claim
 * @param claimUid of the claim
 * @param allocated when kube-scheduler allocated it, in RFC 3339, by which one allocation is told from the next
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record BindingClaim(
    @JsonPropertyDescription("The claim's namespace.") String namespace,
    @JsonPropertyDescription("The claim's name.") String name,
    @JsonPropertyDescription("The claim's UID.") String claimUid,
    @JsonPropertyDescription("When kube-scheduler allocated the claim.") String allocated) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public BindingClaim {
    namespace = namespace == null ? "" : namespace;
    name = name == null ? "" : name;
    claimUid = claimUid == null ? "" : claimUid;
    allocated = allocated == null ? "" : allocated;
  }
}
