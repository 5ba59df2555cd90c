package dev.partita.cli.cluster;

/** What a user does with a cluster that is up. */
final class NextSteps {
  static final String TEXT =
      """

          Go on with:
            eval "$(./partita cluster env)"
            kubectl get resourceslices,gpunodes,deviceclasses
            kubectl apply -f deploy/examples/quarter-h200.yaml
            kubectl wait --for=condition=Ready pod/quarter-h200
            kubectl logs quarter-h200
            kubectl describe resourceclaim
            kubectl delete --now -f deploy/examples/quarter-h200.yaml
            ./partita cluster down
          """;

  private NextSteps() {}
}
