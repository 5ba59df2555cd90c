package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A replica of a card, under the name that NVIDIA's device plugin has for cards that it shares
 * ({@code renameByDefault}): by time-slicing, which limits nobody, or by MPS, which the name does not tell.
 */
final class TimeSlices implements DialectReader.OfResources {
  private static final String SHARED = "nvidia.com/gpu.shared";

  @Override
  public Set<String> resources() {
    return Set.of(SHARED);
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    if (asked.of(SHARED) > 1) {
      problems.add(new FieldError(asked.pathOf(SHARED),
          "asks for " + asked.of(SHARED) + ": more turns are no larger part of a card; ask for 1"));
      return Optional.empty();
    }
    return Optional.of(new GpuRequest(1, new Portion.Turn(), CardChoice.ANY, ShareOptions.NONE));
  }

  @Override
  public List<FieldError> notes(ResourceRequests asked, PodContext pod) {
    return List.of(new FieldError(asked.pathOf(SHARED),
        "has its card in turn with others, by time-slicing, and nobody's memory is limited; where the device plugin shared by MPS, ask for memory instead"));
  }
}
