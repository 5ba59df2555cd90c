package dev.partita.controller.allocate;

import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/**
 * A node that the allocator is to consider.
 *
 * @param refusal why the pod cannot use it whatever its cards are, for people; empty if it can
 */
public record Candidate(GpuHost host, Optional<String> refusal) {}
