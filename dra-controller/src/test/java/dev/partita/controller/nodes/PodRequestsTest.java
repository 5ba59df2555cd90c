package dev.partita.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Expected are the sums of {@code PodRequests} in Kubernetes' component-helpers: of 0.36, and of 0.37 for claims. */
class PodRequestsTest {
  private static final long GIB = 1L << 30;

  @ParameterizedTest(name = "{0}")
  @MethodSource
  void aPodCountsAsKubeSchedulerCountsIt(String what, long milliCpu, long gibibytes, String pod) {
    assertThat(PodRequests.of(pod(pod))).isEqualTo(new PodRequests(milliCpu, gibibytes * GIB, 1));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("aPodCountsAsKubeSchedulerCountsIt")
  void itCountsTheSameWithWhatIsKeptOfItsStatus(String what, long milliCpu, long gibibytes, String pod) {
    Pod kept = pod(pod);
    PodRequests.dropStatusThatChangesNothing(kept);
    assertThat(PodRequests.of(kept)).isEqualTo(new PodRequests(milliCpu, gibibytes * GIB, 1));
  }

  static Stream<Arguments> aPodCountsAsKubeSchedulerCountsIt() {
    return Stream.of(
        each("nothing is requested", 0, 0, "spec: {containers: [{name: a}]}"),
        each("containers run together", 3000, 3, """
            spec:
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 1Gi}}}
              - {name: b, resources: {requests: {cpu: "1", memory: 2Gi}}}
            """),
        each("an init container runs alone", 5000, 2, """
            spec:
              initContainers:
              - {name: i, resources: {requests: {cpu: "5", memory: 1Gi}}}
              - {name: j, resources: {requests: {cpu: "4", memory: 1Gi}}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}
            """),
        each("a sidecar runs beside the containers", 3000, 3, """
            spec:
              initContainers:
              - {name: s, restartPolicy: Always, resources: {requests: {cpu: "1", memory: 1Gi}}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}
            """),
        each("an init container runs beside the sidecars before it, and not beside those after it", 6000, 9, """
            spec:
              initContainers:
              - {name: s, restartPolicy: Always, resources: {requests: {cpu: "1", memory: 1Gi}}}
              - {name: i, resources: {requests: {cpu: "5", memory: 5Gi}}}
              - {name: t, restartPolicy: Always, resources: {requests: {cpu: "2", memory: 4Gi}}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 4Gi}}}
            """),
        each("overhead comes on top", 2100, 3, """
            spec:
              overhead: {cpu: 100m, memory: 1Gi}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}
            """),
        each("what is requested for the pod as a whole stands for its containers", 4100, 2, """
            spec:
              overhead: {cpu: 100m}
              resources: {requests: {cpu: "4"}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}
            """),
        each("a container without a name, as in snapshots of earlier releases, counts with what it asks for", 2000, 2,
            """
                spec: {containers: [{resources: {requests: {cpu: "2", memory: 2Gi}}}]}
                status: {containerStatuses: [{name: a, resources: {requests: {cpu: "4", memory: 4Gi}}}]}
                """),
        each("a container that is to have more counts with that before it has it", 4000, 4, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "4", memory: 4Gi}}}]}
            status: {containerStatuses: [{name: a, allocatedResources: {cpu: "2", memory: 2Gi},
              resources: {requests: {cpu: "2", memory: 2Gi}}}]}
            """),
        each("one that is to have less counts with what it still has", 4000, 4, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}]}
            status: {containerStatuses: [{name: a, allocatedResources: {cpu: "2", memory: 2Gi},
              resources: {requests: {cpu: "4", memory: 4Gi}}}]}
            """),
        each("and with what it is allocated", 3000, 2, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}]}
            status: {containerStatuses: [{name: a, allocatedResources: {cpu: "3", memory: 1Gi},
              resources: {requests: {cpu: "1", memory: 1Gi}}}]}
            """),
        each("one that has less by now counts with that", 2000, 2, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}]}
            status: {containerStatuses: [{name: a, allocatedResources: {cpu: "2", memory: 2Gi},
              resources: {requests: {cpu: "2", memory: 2Gi}}}]}
            """),
        each("a node that can never grant it counts what it has granted", 2000, 2, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "400", memory: 4Gi}}}]}
            status:
              conditions: [{type: PodResizePending, status: "True", reason: Infeasible}]
              containerStatuses: [{name: a, allocatedResources: {cpu: "2", memory: 2Gi},
                resources: {requests: {cpu: "2", memory: 2Gi}}}]
            """),
        each("one that grants it later counts what is asked for", 4000, 4, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "4", memory: 4Gi}}}]}
            status:
              conditions: [{type: PodResizePending, status: "True", reason: Deferred}]
              containerStatuses: [{name: a, allocatedResources: {cpu: "2", memory: 2Gi},
                resources: {requests: {cpu: "2", memory: 2Gi}}}]
            """),
        each("containers are told apart by name, in whatever order they stand", 7000, 2, """
            spec:
              containers:
              - {name: b, resources: {requests: {cpu: "1", memory: 1Gi}}}
              - {name: a, resources: {requests: {cpu: "1", memory: 1Gi}}}
            status:
              containerStatuses:
              - {name: a, allocatedResources: {cpu: "1", memory: 1Gi}, resources: {requests: {cpu: "6", memory: 1Gi}}}
              - {name: b, allocatedResources: {cpu: "1", memory: 1Gi}, resources: {requests: {cpu: "1", memory: 1Gi}}}
            """),
        each("a sidecar is resized as a container is", 6000, 2, """
            spec:
              initContainers:
              - {name: s, restartPolicy: Always, resources: {requests: {cpu: "1", memory: 1Gi}}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 1Gi}}}
            status:
              initContainerStatuses: [{name: s, allocatedResources: {cpu: "1", memory: 1Gi},
                resources: {requests: {cpu: "4", memory: 1Gi}}}]
            """),
        each("an init container that is over is not", 2000, 1, """
            spec:
              initContainers:
              - {name: i, resources: {requests: {cpu: "1", memory: 1Gi}}}
              containers:
              - {name: a, resources: {requests: {cpu: "2", memory: 1Gi}}}
            status:
              initContainerStatuses: [{name: i, allocatedResources: {cpu: "1", memory: 1Gi},
                resources: {requests: {cpu: "4", memory: 1Gi}}}]
            """),
        each("kubelet that says what is allocated alone has not started it", 2000, 1, """
            spec: {containers: [{name: a, resources: {requests: {cpu: "2", memory: 1Gi}}}]}
            status: {containerStatuses: [{name: a, allocatedResources: {cpu: "4", memory: 1Gi}}]}
            """),
        each("a pod as a whole is resized likewise", 5000, 2, """
            spec:
              resources: {requests: {cpu: "3"}}
              containers: [{name: a, resources: {requests: {cpu: "1", memory: 2Gi}}}]
            status:
              allocatedResources: {cpu: "3"}
              resources: {requests: {cpu: "5"}}
            """),
        each("devices of claims take CPU and memory of the node, for the pod and for each container", 5000, 5, """
            spec:
              containers: [{name: a, resources: {requests: {cpu: "1", memory: 1Gi}}}, {name: b}]
            status:
              nodeAllocatableResourceClaimStatuses:
              - resourceClaimName: cpus
                containers: [a]
                mapping: [{name: cpu, quantity: "4"}]
              - resourceClaimName: share
                containers: [a, b]
                overhead: [{name: memory, perPod: 2Gi, perContainer: 1Gi}, {name: hugepages-2Mi, perPod: 4Mi}]
            """),
        each("and not of a pod that says how much it requests as a whole", 1000, 1, """
            spec:
              resources: {requests: {cpu: "1", memory: 1Gi}}
              containers: [{name: a}]
            status:
              nodeAllocatableResourceClaimStatuses:
              - {resourceClaimName: share, containers: [a], overhead: [{name: memory, perPod: 2Gi}]}
            """),
        each("nor does what can never be granted to it count", 3000, 0, """
            spec:
              resources: {requests: {cpu: "300"}}
              containers: [{name: a}]
            status:
              conditions: [{type: PodResizePending, status: "True", reason: Infeasible}]
              allocatedResources: {cpu: "3"}
              resources: {requests: {cpu: "3"}}
            """));
  }

  @Test
  void nothingIsKeptOfTheStatusOfAPodThatIsNotBeingResized() {
    Pod pod = pod("""
        spec: {containers: [{name: a, resources: {requests: {cpu: "2", memory: 2Gi}}}]}
        status:
          phase: Running
          allocatedResources: {cpu: "2", memory: 2Gi}
          resources: {requests: {cpu: "2", memory: 2Gi}}
          initContainerStatuses: [{name: i, resources: {requests: {cpu: "1"}}}]
          containerStatuses: [{name: a, allocatedResources: {cpu: 2000m, memory: 2048Mi},
            resources: {requests: {cpu: "2", memory: 2Gi}}}]
        """);
    PodRequests.dropStatusThatChangesNothing(pod);
    assertThat(pod.getStatus()).isEqualTo(pod("status: {phase: Running}").getStatus());
  }

  /** API servers keep amounts of hundreds of thousands of digits: a number of a million takes 17 s to read. */
  @Test
  @Timeout(10)
  void anAmountOfVeryManyDigitsCountsAsMoreThanAnyNodeHas() {
    Pod pod = pod("spec: {containers: [{name: a, resources: {requests: {cpu: 1e300000000}}}]}");
    pod.getSpec().getContainers().getFirst().getResources().getRequests().put("memory",
        new Quantity("9".repeat(1_400_000)));
    assertThat(PodRequests.of(pod)).isEqualTo(new PodRequests(1L << 53, 1L << 53, 1));
  }

  private static Arguments each(String what, long milliCpu, long gibibytes, String pod) {
    return Arguments.of(what, milliCpu, gibibytes, pod);
  }

  private static Pod pod(String fields) {
    return Serialization.unmarshal("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + fields, Pod.class);
  }
}
