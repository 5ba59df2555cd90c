package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/**
 * How a node is set up, as far as the plugin sees that from its container.
 *
 * @param cgroupVersion 1 or 2, by what is mounted at /sys/fs/cgroup; null if that is neither
 * @param cdiFolder where the plugin writes CDI specs, as the host names it; the container runtime must read them there
 * @param cdiProblem why no spec can be written there; null if one can
 * @param cdiApplied whether a container has used a share since the plugin started, so that the container runtime has
 *        given it what the share's CDI spec says; false as long as there was none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodeSetup(
    @JsonPropertyDescription("Version of cgroups that the node runs: 1 or 2.") @Nullable Integer cgroupVersion,
    @JsonPropertyDescription("Where the plugin writes CDI specs; the container runtime must read them there.")
    @Nullable String cdiFolder,
    @JsonPropertyDescription("Why no CDI spec can be written there.") @Nullable String cdiProblem,
    @JsonPropertyDescription("Whether a container has used a share since the plugin started, which it cannot without its CDI spec.") boolean cdiApplied) {}
