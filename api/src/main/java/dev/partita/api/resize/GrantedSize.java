package dev.partita.api.resize;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.Optional;

/**
 * A size that the controller has granted to a share of the node, for its plugin to put into force.
 *
 * @param claimUid UID of the share's claim
 * @param shareId the share's, in lower case
 * @param size as {@link ShareSize} writes it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record GrantedSize(
    @JsonPropertyDescription("UID of the share's claim.") String claimUid,
    @JsonPropertyDescription("The shareID of the claim's allocation, in lower case.") String shareId,
    @JsonPropertyDescription("Such as memory=12Gi,cores=40.") String size) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GrantedSize {
    claimUid = claimUid == null ? "" : claimUid;
    shareId = shareId == null ? "" : shareId;
    size = size == null ? "" : size;
  }

  /** The size; empty if it is not understood. */
  @JsonIgnore
  public Optional<ShareSize> parsed() {
    return ShareSize.parse(size);
  }
}
