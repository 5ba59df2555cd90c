package dev.partita.controller.admission;

import dev.partita.admission.webhook.PodAnswer;
import dev.partita.admission.webhook.PodMutation;
import java.util.function.Function;

/** Reviews new pods: it changes those whose GPUs become claims, and passes warnings on. */
public final class PodReview implements Function<AdmissionRequest, Verdict> {
  private final PodMutation mutation;

  public PodReview(PodMutation mutation) {
    this.mutation = mutation;
  }

  @Override
  public Verdict apply(AdmissionRequest request) {
    if (!request.operation().equals("CREATE") || !request.group().isEmpty() || !request.resource().equals("pods")) {
      return Verdict.allowed();
    }
    PodAnswer answer = mutation.mutate(request.object(), request.namespace());
    return answer.patch().isEmpty()
        ? new Verdict.Allowed(answer.warnings())
        : new Verdict.Changed(answer.patch(), answer.warnings());
  }
}
