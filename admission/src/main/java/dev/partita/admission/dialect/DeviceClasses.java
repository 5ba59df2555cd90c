package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Devices of a class of Partita's by the extended resource that Kubernetes has for every DeviceClass (KEP-5004).
 * kube-scheduler makes the claim of such a pod only on a node where it allocates itself. With a claim of its own the
 * pod can be served on every node.
 */
final class DeviceClasses implements DialectReader.OfResources {
  private static final String PREFIX = "deviceclass.resource.kubernetes.io/";

  @Override
  public Set<String> resources() {
    return Set.of(PREFIX + "<class>");
  }

  @Override
  public boolean understands(String resource) {
    return resource.startsWith(PREFIX) && Portion.OfClass.isName(resource.substring(PREFIX.length()));
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    String resource = asked.one("class", problems);
    OptionalInt count = Cards.count(asked, resource, problems);
    reported.addAll(problems);
    return problems.isEmpty() && count.isPresent()
        ? Optional.of(new GpuRequest(count.getAsInt(), new Portion.OfClass(resource.substring(PREFIX.length())),
            CardChoice.ANY, ShareOptions.NONE))
        : Optional.empty();
  }
}
