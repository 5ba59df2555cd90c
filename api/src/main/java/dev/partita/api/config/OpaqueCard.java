package dev.partita.api.config;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;

/**
 * A card that an administrator lists in a file on its node: what it is, and what containers get that have a share of
 * it. Nothing is known of it but that.
 *
 * @param vendor who makes it, such as AMD
 * @param productName such as "Instinct MI300X"
 * @param serial what tells it from the other cards of its node
 * @param memoryBytes its device memory
 * @param numaNode where it is plugged in; empty if that is not said
 * @param pciBusId domain:bus:device.function; empty if that is not said
 * @param deviceNodes paths below /dev that containers get, the same on the node and in them
 * @param env {@code NAME=value}
 * @param mounts files and folders of the node that containers can read at the same path
 * @param cdiDevices devices of other CDI specs of the node that containers get, such as {@code amd.com/gpu=0}
 */
public record OpaqueCard(
    String vendor,
    String productName,
    String serial,
    long memoryBytes,
    OptionalInt numaNode,
    Optional<String> pciBusId,
    SortedSet<String> deviceNodes,
    SortedSet<String> env,
    SortedSet<String> mounts,
    SortedSet<String> cdiDevices) {}
