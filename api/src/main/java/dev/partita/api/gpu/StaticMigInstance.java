package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.MigSlot;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A MIG instance that somebody else than Partita made, by nvidia-smi or mig-parted: Partita gives it to claims and
 * never ends it. It is a GPU instance with one compute instance of all of it.
 *
 * @param uuid {@code MIG-…}; empty if the driver does not tell
 * @param profile NVIDIA's name, such as 1g.18gb; one of the card's profiles
 * @param placement where on the card it lies
 * @param health whether it is still there; null is healthy
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StaticMigInstance(
    @JsonPropertyDescription("The instance's own UUID.") String uuid,
    @JsonPropertyDescription("NVIDIA's name of its profile, such as 1g.18gb.") String profile,
    @JsonPropertyDescription("Where on the card it lies.") MigProfile.Placement placement,
    @JsonPropertyDescription("Whether it is still there; one that a claim has is listed until the claim ends.")
    @Nullable GpuHealth health) {
  private static final Pattern OWN_UUID = Pattern.compile("MIG-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public StaticMigInstance {
    uuid = uuid == null ? "" : uuid;
    profile = profile == null ? "" : profile;
    placement = placement == null ? new MigProfile.Placement(0, 0) : placement;
  }

  /** One that is there. */
  public StaticMigInstance(String uuid, String profile, MigProfile.Placement placement) {
    this(uuid, profile, placement, null);
  }

  /** Whether it is there. */
  @JsonIgnore
  public boolean isHealthy() {
    return health == null || health.state() == GpuHealth.State.Healthy;
  }

  /**
   * Whether shares of it can be told from those of its card: drivers from 470 on give an instance a UUID of its own,
   * older ones a text of its card's UUID and two numbers.
   */
  @JsonIgnore
  public boolean hasOwnUuid() {
    return OWN_UUID.matcher(uuid).matches();
  }

  /** Which instance of its card it is; empty if no device can be made of what the node reports. */
  @JsonIgnore
  public Optional<MigSlot> slot() {
    String label = MigSlot.labelOf(profile);
    return label.isEmpty() || placement.mask() == 0
        ? Optional.empty()
        : Optional.of(new MigSlot(label, placement.start()));
  }
}
