package dev.partita.plugin.allocation;

import dev.partita.api.Annotations;
import dev.partita.api.DnsName;
import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.kube.NeededMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads how a claim's device metadata is to name it. The names become parts of paths, and whoever may write a claim
 * writes its annotations, which the API server does not check.
 */
final class NamesDecoder {
  private NamesDecoder() {}

  /**
   * Reads the names. One that cannot be part of a path is refused.
   *
   * @param results all of the claim's, of whatever driver
   */
  static Part<MetadataNames> read(ResourceClaim claim, List<DeviceRequestAllocationResult> results) {
    Optional<String> podClaimName =
        Annotations.value(claim, NeededMetadata.POD_CLAIM_NAME).filter(name -> !name.isEmpty());
    if (podClaimName.filter(name -> !DnsName.isLabel(name)).isPresent()) {
      return new Part.Refused<>("the claim's annotation " + NeededMetadata.POD_CLAIM_NAME
          + " is not the name of a pod's claim, which is a DNS label: \"" + podClaimName.get()
          + "\". Kubernetes writes it on claims that it makes; leave it off others");
    }
    Map<String, String> alternatives = new TreeMap<>();
    Set<String> ours = new TreeSet<>();
    Set<String> others = new TreeSet<>();
    for (DeviceRequestAllocationResult result : results) {
      String name = String.valueOf(result.getRequest());
      String request = RequestName.withoutSubrequest(name);
      if (!Driver.NAME.equals(result.getDriver())) {
        others.add(request);
        continue;
      }
      if (!DnsName.isLabel(request)) {
        return new Part.Refused<>("request \"" + name + "\" has a name that is no DNS label");
      }
      ours.add(request);
      if (!name.equals(request)) {
        alternatives.putIfAbsent(request, name);
      }
    }
    others.retainAll(ours);
    return new Part.Granted<>(new MetadataNames(podClaimName, alternatives, others));
  }
}
