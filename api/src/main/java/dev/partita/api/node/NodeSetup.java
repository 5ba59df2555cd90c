package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/**
 * How a node is set up, as far as the plugin sees that from its container.
 *
 * @param cgroupVersion 1 or 2, by what is mounted at /sys/fs/cgroup; null if that is neither
 * @param cdiFolder where the plugin writes CDI specs, as the host names it; the container runtime must read them there
 * @param cdiProblem why no spec can be written there; null if one can
 * @param cdiApplied whether a container has used a share since the plugin started, so that the container runtime has
 *        given it what the share's CDI spec says; false as long as there was none
 * @param installFolder where the CDI hook and the shadow libraries are installed, as the host names it; null if the
 *        plugin does not know how the node has mounted that
 * @param installProblem why the container runtime cannot start the hook there; null if nothing is in its way
 * @param makesInstancesEarly whether the plugin makes MIG instances before the pods that they are for are bound, for
 *        claims that {@link GpuNodeStatus#bindingClaims} tells it of; false where it is of a release that does not
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeSetup(
    @JsonPropertyDescription("Version of cgroups that the node runs: 1 or 2.") @Min(0) @Max(Integer.MAX_VALUE)
    @Nullable Integer cgroupVersion,
    @JsonPropertyDescription("Where the plugin writes CDI specs; the container runtime must read them there.")
    @Nullable String cdiFolder,
    @JsonPropertyDescription("Why no CDI spec can be written there.") @Nullable String cdiProblem,
    @JsonPropertyDescription("Whether a container has used a share since the plugin started, which it cannot without its CDI spec.") boolean cdiApplied,
    @JsonPropertyDescription("Where the CDI hook and the libraries for containers are installed.")
    @Nullable String installFolder,
    @JsonPropertyDescription("Why the container runtime cannot start the CDI hook there.")
    @Nullable String installProblem,
    @JsonPropertyDescription("Whether the plugin makes MIG instances before the pods that they are for are bound.") boolean makesInstancesEarly) {}
