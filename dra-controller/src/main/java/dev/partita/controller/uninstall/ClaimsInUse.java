package dev.partita.controller.uninstall;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimStatus;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The claims of Partita that pods have. kubelet ends no pod before the node's plugin has released its claims: where
 * that plugin is gone the pod stays for ever.
 *
 * @param names {@code namespace/claim (pod)} each, in order
 */
record ClaimsInUse(List<String> names) {
  private static final int SHOWN = 10;

  static ClaimsInUse among(List<ResourceClaim> claims) {
    return new ClaimsInUse(claims.stream().filter(claim -> isInUse(claim.getStatus())).map(ClaimsInUse::name).sorted()
        .toList());
  }

  private static boolean isInUse(@Nullable ResourceClaimStatus status) {
    return status != null && status.getAllocation() != null && !list(status.getReservedFor()).isEmpty()
        && list(status.getAllocation().getDevices().getResults()).stream()
            .anyMatch(result -> Driver.NAME.equals(result.getDriver()));
  }

  private static String name(ResourceClaim claim) {
    String users = claim.getStatus().getReservedFor().stream()
        .map(user -> user.getResource().replaceFirst("s$", "") + " " + user.getName())
        .collect(Collectors.joining(", "));
    return claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName() + " (" + users + ")";
  }

  boolean isEmpty() {
    return names.isEmpty();
  }

  /** What a person reads who is not let through. */
  String refusal() {
    Stream<String> more = names.size() > SHOWN ? Stream.of("and " + (names.size() - SHOWN) + " more") : Stream.empty();
    return "Partita is not uninstalled: pods use " + (names.size() == 1 ? "a claim" : names.size() + " claims")
        + " of it, and cannot end once the plugins are gone. Delete these pods first:\n"
        + Stream.concat(names.stream().limit(SHOWN), more).map(name -> "  " + name).collect(Collectors.joining("\n"));
  }

  private static <T> List<T> list(@Nullable List<T> list) {
    return Objects.requireNonNullElse(list, List.of());
  }
}
