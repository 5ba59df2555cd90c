package dev.partita.controller.claims;

import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Which claims and templates are ours, by what the informers have. A claim with a request of ours is, as it is for {@link ClaimReader}. */
public final class KnownClaims implements ClaimLookup {
  private final ClusterView view;

  public KnownClaims(ClusterView view) {
    this.view = view;
  }

  @Override
  public boolean isOurClaim(String namespace, String claim) {
    @Nullable ResourceClaim known = view.claim(new ObjectKey(namespace, claim));
    return known != null && isOurs(known.getSpec());
  }

  @Override
  public boolean isOurTemplate(String namespace, String template) {
    @Nullable ResourceClaimTemplate known = view.template(new ObjectKey(namespace, template));
    return known != null && isOurs(known.getSpec().getSpec());
  }

  private boolean isOurs(@Nullable ResourceClaimSpec spec) {
    if (spec == null || spec.getDevices() == null) {
      return false;
    }
    var requests = spec.getDevices().getRequests();
    return IntStream.range(0, requests.size())
        .boxed()
        .flatMap(i -> RequestPart.of(requests.get(i), i).stream())
        .anyMatch(part -> Ownership.isOurs(part.className(), view.deviceClass(part.className()), part.selectors()));
  }
}
