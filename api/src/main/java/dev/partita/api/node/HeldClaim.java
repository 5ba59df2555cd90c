package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node holds for a claim that no longer says so itself, and that nobody else may have until the node has given
 * it back.
 *
 * @param claimUid of the claim
 * @param namespace of the claim; null if the node does not know it
 * @param name of the claim; null if the node does not know it
 * @param reason why it is reported
 * @param devices what is held; where the node cannot tell, every card that it may be
 * @param since when the node saw it first, in RFC 3339
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record HeldClaim(
    @JsonPropertyDescription("The claim's UID.") String claimUid,
    @JsonPropertyDescription("The claim's namespace, where the node knows it.") @Nullable String namespace,
    @JsonPropertyDescription("The claim's name, where the node knows it.") @Nullable String name,
    @JsonPropertyDescription("ClaimGone: the claim was deleted, or is allocated elsewhere, and the node was not asked to release it."
        + " OtherVersion: another version of the node's plugin has prepared it, which alone knows what it has.")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE) Reason reason,
    @JsonPropertyDescription("What is held; where the node cannot tell, every card that it may be.") List<HeldDevice> devices,
    @JsonPropertyDescription("When the node saw it first.") String since) {

  /** Why a node reports something as held. What is not known here is counted besides what the claim itself says. */
  public enum Reason {
    /** There is no such claim, or it is not allocated to this node, and nobody has asked the node to release it. */
    ClaimGone,
    /** Another version of the node's plugin has prepared it. */
    @JsonEnumDefaultValue OtherVersion
  }

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public HeldClaim {
    devices = devices == null ? List.of() : List.copyOf(devices);
    reason = reason == null ? Reason.ClaimGone : reason;
    since = since == null ? "" : since;
  }

  /** Whether something of that card is held. */
  public boolean has(String uuid) {
    return devices.stream().anyMatch(device -> device.uuid().equals(uuid));
  }

  /** The same, seen first at another time. */
  public HeldClaim since(String time) {
    return new HeldClaim(claimUid, namespace, name, reason, devices, time);
  }
}
