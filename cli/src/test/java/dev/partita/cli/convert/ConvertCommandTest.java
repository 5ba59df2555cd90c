package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.cli.Partita;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ConvertCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WHOLE = "{containers: [{name: cuda, resources: {limits: {nvidia.com/gpu: 1}}}]}";

  @TempDir private Path folder;

  private record Run(int status, String out, String err) {
    List<Object> objects() {
      return Stream.of(out.split("(?m)^---\n")).map(YamlText::read).toList();
    }
  }

  @Test
  void aPodComesOutAfterItsTemplate() throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: team}, spec: " + WHOLE + "}");

    assertThat(run.status()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaimTemplate
                metadata:
                  name: partita-4e559524cc0f7e9146da
                  namespace: team
                spec:
                  spec:
                    devices:
                      requests:
                      - exactly:
                          deviceClassName: whole.gpu.partita.dev
                        name: gpu
                ---
                apiVersion: v1
                kind: Pod
                metadata:
                  name: a
                  namespace: team
                spec:
                  containers:
                  - name: cuda
                    resources:
                      claims:
                      - name: gpu
                  resourceClaims:
                  - name: gpu
                    resourceClaimTemplateName: partita-4e559524cc0f7e9146da
                """);
  }

  @ParameterizedTest
  @CsvSource({
    "apps/v1, Deployment, spec.template",
    "apps/v1, StatefulSet, spec.template",
    "apps/v1, DaemonSet, spec.template",
    "apps/v1, ReplicaSet, spec.template",
    "v1, ReplicationController, spec.template",
    "v1, PodTemplate, template",
    "batch/v1, Job, spec.template",
    "batch/v1, CronJob, spec.jobTemplate.spec.template"
  })
  void everyKindOfWorkloadIsConverted(String apiVersion, String kind, String path) throws IOException {
    Run run = convert(nested(apiVersion, kind, path, "nvidia.com/gpu"));

    assertThat(run.status()).isZero();
    assertThat(run.objects()).hasSize(2);
    assertThat(run.out()).contains("resourceClaimTemplateName: partita-").doesNotContain("nvidia.com/gpu");
  }

  @Test
  void whatIsNotConvertedIsNamedWithItsPathAndStaysToTheLetter() throws IOException {
    String text =
        nested("batch/v1", "CronJob", "spec.jobTemplate.spec.template", "nvidia.com/gpu.x") + "  # as it was\n";

    Run run = convert(text);

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.out()).isEqualTo(text);
    assertThat(run.err())
        .startsWith(
            "partita: CronJob w: spec.jobTemplate.spec.template.spec.containers[0].resources.limits[nvidia.com/gpu.x]: is not converted; ");
  }

  @Test
  void aKindThatIsNotKnownIsNamedWhereItAsksForGpus() throws IOException {
    String text = nested("kubeflow.org/v1", "PyTorchJob", "spec.replicas.template", "nvidia.com/gpu") + "\n";

    Run run = convert(text);

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.out()).isEqualTo(text);
    assertThat(run.err())
        .isEqualTo(
            "partita: PyTorchJob w: spec.replicas.template.spec.containers[0].resources.limits[nvidia.com/gpu]: is not converted:"
                + " pods in PyTorchJob are not known here\n");
  }

  /** Its pods have their annotations beside the spec of the clique that holds their own. */
  @Test
  void thePodsOfAPodCliqueSetAreConvertedWithTheirCliquesAnnotations() throws IOException {
    Run run = convert("""
        apiVersion: grove.io/v1alpha1
        kind: PodCliqueSet
        metadata: {name: s}
        spec:
          template:
            cliques:
            - name: decode
              annotations: {gpu-fraction: '0.5', other: kept}
              labels: {kai.scheduler/queue: a, kueue.x-k8s.io/queue-name: q}
              spec: {roleName: decode, podSpec: {containers: [{name: c}], nodeSelector: {gpu: 'on'}}}
            - name: prefill
              annotations: {nvidia.com/use-gputype: A100}
              spec: {roleName: prefill, podSpec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 2}}}]}}
            - name: router
              annotations: {gpu-fraction: '0.5'}
              labels: {kai.scheduler/queue: a}
              spec: {podSpec: {containers: [{name: c}]}}
        """);

    assertThat(run.status()).as(run.err()).isZero();
    JsonNode cliques = JSON.valueToTree(run.objects().getLast()).at("/spec/template/cliques");
    assertThat(cliques).allMatch(clique -> clique.at("/spec/podSpec/resourceClaims").size() == 1);
    assertThat(cliques.path(0).toString()).contains("\"annotations\":{\"other\":\"kept\"}", "\"labels\":{\"kai.");
    assertThat(cliques.path(1).path("annotations").has("nvidia.com/use-gputype")).isTrue();
    assertThat(cliques.path(2).has("annotations")).isFalse();
    assertThat(run.out()).containsIgnoringCase("a100").contains("memoryPercent: 50").doesNotContain("nvidia.com/gpu:",
        "gpu-fraction");
    assertThat(run.err()).contains("PodCliqueSet s: spec.template.cliques[0].spec.podSpec.nodeSelector[gpu]: ",
        "PodCliqueSet s: spec.template.cliques[0].labels[kueue.x-k8s.io/queue-name]: ",
        "PodCliqueSet s: spec: is of a CustomResourceDefinition");
  }

  @Test
  void whatAPodCliqueSetCannotSayIsToldItsPlace() throws IOException {
    String set = "{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: s}, spec: {template: {cliques:"
        + " [{name: a, %s spec: {podSpec: %s}}]}}}\n";

    Run nested = convert(set.formatted("", "{spec: " + WHOLE + "}"));
    Run refused = convert(set.formatted("", WHOLE.replace(": 1}", ": some}")));

    assertThat(nested.status()).isEqualTo(3);
    assertThat(nested.err())
        .isEqualTo("partita: PodCliqueSet s: spec.template.cliques[0].spec.podSpec.spec.containers[0]"
            + ".resources.limits[nvidia.com/gpu]: is not converted: the pod of a PodCliqueSet is its"
            + " spec.template.cliques.*.spec.podSpec\n");
    assertThat(refused.err()).startsWith("partita: PodCliqueSet s: spec.template.cliques[0].spec.podSpec.containers[0]"
        + ".resources.limits[nvidia.com/gpu]: is not a whole number");
    assertThat(convert(set.formatted("annotations: {gpu-fraction: 'x'}, labels: {runai/queue: a},",
        "{containers: [{name: c}]}")).err())
        .startsWith("partita: PodCliqueSet s: spec.template.cliques[0].annotations[gpu-fraction]: must be a part of");
    assertThat(convert(set.formatted("annotations: {gpu-fraction: '0.5'},", "{containers: [{name: c}]}")).err())
        .as("without a queue").contains("cliques[0].annotations[gpu-fraction]: is KAI's or Run:ai's in a pod with")
        .doesNotContain("the pod of a PodCliqueSet is");
    assertThat(convert(set.formatted("annotations: {gpu-fraction: '0.5'}, labels: {runai/queue: a},",
        "{containers: [{name: c, resources: {limits: {tencent.com/vcuda-core: 10}}}]}")).err())
        .as("two ways at once").contains("spec.podSpec.containers[0]").doesNotContain("podSpec.spec", "podSpec.meta");
  }

  @Test
  void aTrainJobIsToldThatItsRuntimeIsToAskForClaims() throws IOException {
    String text = "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t}, spec: {runtimeRef:"
        + " {name: torch}, trainer: {resourcesPerNode: {requests: {nvidia.com/gpu: 1}}}}}\n";

    Run run = convert(text);

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.out()).isEqualTo(text);
    assertThat(run.err())
        .startsWith("partita: TrainJob t: spec.trainer.resourcesPerNode.requests[nvidia.com/gpu]: is not converted: a"
            + " TrainJob has no field for claims: ask in the pods of the runtime that runtimeRef names, and leave"
            + " resourcesPerNode out, which replaces their claims");
  }

  @Test
  void kindsOfVersionsThatAreNoMoreAreToldTheVersionThatIs() throws IOException {
    assertThat(convert(nested("extensions/v1beta1", "Deployment", "spec.template", "aliyun.com/gpu-mem")).err())
        .endsWith(
            "is not converted: pods in Deployment of extensions/v1beta1 are not known here; make it one of apps/v1\n");
    assertThat(convert(nested("batch/v1beta1", "CronJob", "spec.jobTemplate.spec.template", "nvidia.com/gpu")).err())
        .endsWith("pods in CronJob of batch/v1beta1 are not known here; make it one of batch/v1\n");
    assertThat(convert("{kind: Pod, metadata: {name: a}, spec: " + WHOLE + "}").err())
        .endsWith("pods in Pod of no apiVersion are not known here; make it one of v1\n");
    assertThat(convert("{apiVersion: apps/v1, kind: Pod, metadata: {name: a}, spec: " + WHOLE + "}").err())
        .endsWith("pods in Pod of apps/v1 are not known here; make it one of v1\n");
    assertThat(convert(nested("v1", "Deployment", "spec.template", "nvidia.com/gpu")).err())
        .endsWith("pods in Deployment of v1 are not known here; make it one of apps/v1\n");
  }

  @Test
  void valuesOfAChartAreToldToRenderIt() throws IOException {
    Run run = convert("engine:\n  resources: {limits: {nvidia.com/gpu: 1}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).contains("pods in an object without a kind are not known here; where these are values of a"
        + " Helm chart, convert what `helm template` writes");
  }

  @ParameterizedTest
  @CsvSource({
    "kubeflow.org/v1, PyTorchJob, 'spec: {pytorchReplicaSpecs: {Master: {template: {POD}}, Worker: {template: {POD}}}}', 2",
    "kubeflow.org/v2beta1, MPIJob, 'spec: {mpiReplicaSpecs: {Worker: {template: {POD}}}}', 1",
    "ray.io/v1, RayCluster, 'spec: {headGroupSpec: {template: {POD}}, workerGroupSpecs: [{template: {POD}}]}', 2",
    "ray.io/v1, RayService, 'spec: {rayClusterConfig: {headGroupSpec: {template: {POD}}}}', 1",
    "ray.io/v1, RayJob, 'spec: {submitterPodTemplate: {POD}, rayClusterSpec: {workerGroupSpecs: [{template: {POD}}]}}', 2",
    "jobset.x-k8s.io/v1alpha2, JobSet, 'spec: {replicatedJobs: [{template: {spec: {template: {POD}}}}]}', 1",
    "leaderworkerset.x-k8s.io/v1, LeaderWorkerSet, 'spec: {leaderWorkerTemplate: {workerTemplate: {POD}}}', 1",
    "ray.io/v1, RayCronJob, 'spec: {jobTemplate: {rayClusterSpec: {headGroupSpec: {template: {POD}}}}}', 1",
    "batch.volcano.sh/v1alpha1, CronJob, 'spec: {jobTemplate: {spec: {tasks: [{template: {POD}}]}}}', 1",
    "training.volcano.sh/v1alpha1, HyperJob, 'spec: {replicatedJobs: [{templateSpec: {tasks: [{template: {POD}}]}}]}', 1",
    "kubeflow.org/v1, Notebook, 'spec: {template: {POD}}', 1",
    "apps.kruise.io/v1alpha1, BroadcastJob, 'spec: {template: {POD}}', 1",
    "apps.openshift.io/v1, DeploymentConfig, 'spec: {template: {POD}}', 1",
    "batch.volcano.sh/v1alpha1, Job, 'spec: {tasks: [{template: {POD}}, {template: {POD}}]}', 2",
    "argoproj.io/v1alpha1, Rollout, 'spec: {template: {POD}}', 1"})
  void everyPodInAWellKnownOperatorsObjectIsConvertedAndWhatToLookAtIsSaid(
      String apiVersion,
      String kind,
      String spec,
      int pods) throws IOException {
    Run run = convert("{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: w}, "
        + spec.replace("POD", "spec: " + WHOLE) + "}");

    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.objects()).as("a template, and the object").hasSize(2);
    assertThat(run.out().split("resourceClaimTemplateName: partita-4e559524cc0f7e9146da", -1)).hasSize(pods + 1);
    assertThat(run.out()).doesNotContain("nvidia.com/gpu");
    assertThat(run.err())
        .contains("partita: " + kind + " w: spec: is of a CustomResourceDefinition, which must keep resourceClaims");
    assertThat(run.err().contains("num-gpus")).as("KubeRay").isEqualTo(apiVersion.startsWith("ray.io/"));
  }

  @Test
  void ofAnOperatorsObjectAllPodsAreConvertedOrNone() throws IOException {
    String text = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: w}, spec: {pytorchReplicaSpecs:"
        + " {Master: {template: {spec: " + WHOLE + "}}, Worker: {template: {spec: " + WHOLE.replace(": 1}", ": some}")
        + "}}}}}\n";
    Run run = convert(text);

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.out()).isEqualTo(text);
    assertThat(run.err()).startsWith(
        "partita: PyTorchJob w: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits")
        .hasLineCount(1);
  }

  @Test
  void aQueueOfKaiIsReadFromTheObjectOfWhichThePodsAreMade() throws IOException {
    Run run = convert("{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: w, labels: {kai.scheduler/queue: a}},"
        + " spec: {workerGroupSpecs: [{template: {metadata: {annotations: {gpu-fraction: '0.5'}}, spec: {containers:"
        + " [{name: ray}]}}}]}}");

    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).contains("resourceClaimTemplateName: ").doesNotContain("gpu-fraction");
  }

  @Test
  void aPodInAPlaceThatIsNotKnownIsNamedBesideThoseThatAreConverted() throws IOException {
    Run run = convert("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: w}, spec: {pytorchReplicaSpecs:"
        + " {Master: {template: {spec: " + WHOLE + "}}}, other: {spec: " + WHOLE + "}}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.objects()).hasSize(2);
    assertThat(run.err())
        .contains("partita: PyTorchJob w: spec.other.spec.containers[0].resources.limits[nvidia.com/gpu]:"
            + " is not converted: pods in PyTorchJob are not known here\n")
        .doesNotContain("Master");
  }

  @Test
  void documentsWithoutGpusKeepTheirCommentsAndATemplateComesOnceANamespace() throws IOException {
    String config =
        "# a comment\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c} # another\ndata: {a: |\n  x\n  }\n"
            .replace("{a: |\n  x\n  }", "{a: x}");
    String pod = "{apiVersion: v1, kind: Pod, metadata: {name: a%s}, spec: " + WHOLE + "}\n";

    Run run = convert(config + "---\n" + pod.formatted("") + "--- # two\n" + pod.formatted("") + "---\n"
        + pod.formatted(", namespace: team") + "---\n");

    assertThat(run.status()).isZero();
    assertThat(run.out()).startsWith(config + "---\n");
    assertThat(run.out().split("kind: ResourceClaimTemplate", -1)).hasSize(3);
    assertThat(run.objects()).hasSize(6);
  }

  @Test
  void theItemsOfAListAreConvertedInIt() throws IOException {
    Run run = convert("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
        + WHOLE + "}, {apiVersion: v1, kind: Secret}]}");
    Run typed = convert("{apiVersion: v1, kind: PodList, items: [{metadata: {name: a}, spec: " + WHOLE + "}]}");

    assertThat(run.status()).isZero();
    assertThat(run.objects()).hasSize(2);
    assertThat(run.out()).contains("kind: List", "kind: Secret", "resourceClaimTemplateName")
        .doesNotContain("nvidia.com/gpu");
    assertThat(typed.out()).contains("kind: PodList", "resourceClaimTemplateName").doesNotContain("nvidia.com/gpu");
  }

  @Test
  void aFileMayBeItsOwnOutput() throws IOException {
    Path file = Files.writeString(folder.resolve("pods.yaml"),
        nested("apps/v1", "Deployment", "spec.template", "aliyun.com/gpu-mem"));

    Run run = run("-f", file.toString(), "-o", file.toString());

    assertThat(run.status()).isZero();
    assertThat(run.out()).isEmpty();
    assertThat(Files.readString(file)).contains("memory: 1Gi").doesNotContain("aliyun.com");
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void cardMemoryTurnsPercentIntoAnAmount() throws IOException {
    Path file = Files.writeString(folder.resolve("p.yaml"), nested("v1", "Pod", "", "nvidia.com/gpumem-percentage"));

    assertThat(run("-f", file.toString()).out()).contains("memoryPercent: 1\n").doesNotContain("memory: ");
    assertThat(run("-f", file.toString(), "--card-memory", "100Gi").out()).contains("memory: 1Gi")
        .doesNotContain("memoryPercent");
    assertThat(run("-f", file.toString(), "--card-memory", "much").err())
        .contains("'much' is not what a card can have");
  }

  @Test
  void whatAliyunsMemoryIsCountedInIsAnOptionAndItsDefaultIsSaid() throws IOException {
    Path file = Files.writeString(folder.resolve("p.yaml"), nested("v1", "Pod", "", "aliyun.com/gpu-mem"));

    Run guessed = run("-f", file.toString());
    assertThat(guessed.status()).isZero();
    assertThat(guessed.out()).contains("memory: 1Gi");
    assertThat(guessed.err())
        .contains("limits[aliyun.com/gpu-mem]: is taken for GiB, gpushare's default; where its device plugin had")
        .contains("--gpu-mem-unit MiB");
    Run said = run("-f", file.toString(), "--gpu-mem-unit", "MiB");
    assertThat(said.status()).isZero();
    assertThat(said.out()).contains("memory: 1Mi");
    assertThat(said.err()).isEmpty();
    assertThat(run("-f", file.toString(), "--gpu-mem-unit", "GB").status()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "limits: {amd.com/gpu: 1}            | resources.limits[amd.com/gpu]: is of another vendor's devices",
        "limits: {huawei.com/Ascend910B: 1}  | resources.limits[huawei.com/Ascend910B]: is of another vendor's devices",
        "limits: {alpha.kubernetes.io/nvidia-gpu: 2} | resources.limits[alpha.kubernetes.io/nvidia-gpu]: is what nvidia.com/gpu was",
        "requests: {example.com/vgpu-mem: 1} | resources.requests[example.com/vgpu-mem]: looks like a way to ask for GPUs",
        "limits: {nvidia.com/GA102GL_A10: 1} | resources.limits[nvidia.com/GA102GL_A10]: hands a card to a virtual machine",
        "limits: {nvidia.com/GH100_H200_141GB: 1}  | resources.limits[nvidia.com/GH100_H200_141GB]: hands a card to",
        "limits: {nvidia.com/TU104GL_Tesla_T4: 1}  | resources.limits[nvidia.com/TU104GL_Tesla_T4]: hands a card to",
        "limits: {nvidia.com/NVIDIA_A10-12Q: 1}  | resources.limits[nvidia.com/NVIDIA_A10-12Q]: hands a card to",
        "limits: {nvidia.com/GRID_T4-1Q: 1}  | resources.limits[nvidia.com/GRID_T4-1Q]: hands a card to",
        "limits: {aliyun.com/ppu: 1}         | resources.limits[aliyun.com/ppu]: is of another vendor's devices",
        "limits: {qualcomm.com/qaic: 1}      | resources.limits[qualcomm.com/qaic]: is of another vendor's devices",
        "limits: {furiosa.ai/rngd: 1}        | resources.limits[furiosa.ai/rngd]: is of another vendor's devices",
        "limits: {rebellions.ai/ATOM: 1}     | resources.limits[rebellions.ai/ATOM]: is of another vendor's devices",
        "limits: {mig.das.com/1g.5gb: 1}     | resources.limits[mig.das.com/1g.5gb]: is a MIG instance of the DAS operator",
        "limits: {doslab.io/vcuda-core: 1}   | resources.limits[doslab.io/vcuda-core]: looks like a way to ask for GPUs",
        "limits: {tensor-fusion.ai/vgpu: 1}  | resources.limits[tensor-fusion.ai/vgpu]: is Tensor Fusion's",
      })
  void resourcesThatNoDialectHasAreNamedAndTheStatusSaysSo(String asked, String reason) throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {"
        + asked + "}}]}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).hasLineCount(1).startsWith("partita: Pod a: spec.containers[0]." + reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "resources: {limits: {gpu: '1'}}      | resources.limits[gpu]",
        "resources: {gpu: '2', cpu: 8}        | resources[gpu]",
        "{requestGPU: 1, requestCPU: 4}       | requestGPU",
        "{gpuCount: '{{count}}', gpuType: x}  | gpuCount",
      })
  void numbersOfGpusInAnOperatorsOwnFieldsAreNamed(String spec, String field) throws IOException {
    Run run = convert("{apiVersion: example.com/v1, kind: Engine, metadata: {name: e, labels: {gpu: '1'}}, spec: {a: "
        + (spec.startsWith("{") ? spec : "{" + spec + "}") + "}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).isEqualTo(
        "partita: Engine e: spec.a." + field + ": is not converted: pods in Engine are not known here\n");
  }

  @Test
  void fieldsThatCountNoGpusAreNoRequests() throws IOException {
    Run run = convert("{apiVersion: example.com/v1, kind: Engine, metadata: {name: e}, spec: {gpus: [{name: a}],"
        + " gpuCount: 0, resources: {gpu: {type: a}}, nodeSelector: {gpu: '1'}}}");

    assertThat(run.status()).as(run.err()).isZero();
  }

  @Test
  void textsThatAskForGpusAreNamed() throws IOException {
    Run run = convert("""
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: templates, annotations: {kept: '{"limits": {"nvidia.com/gpu": 1}}'}}
        data:
          none: 'resources: {limits: {nvidia.com/gpu: 0}}'
          plugin: 'resources: [{name: nvidia.com/gpu, replicas: 4}]'
          pod.yaml: |
            containers:
            - resources:
                limits:
                  nvidia.com/gpu: 1
        ---
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        metadata: {name: w}
        spec:
          podSpecPatch: '{"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}'
        ---
        - {op: add, path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu, value: 1}
        """);

    String why = " asks for GPUs (nvidia.com/gpu) in a text, which is not converted: convert it by itself";
    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).containsExactly("partita: ConfigMap templates: data.pod.yaml:" + why,
        "partita: Workflow w: spec.podSpecPatch:" + why, "partita: (no name): [0].path:" + why);
  }

  @Test
  void whatIsConvertedBesideWhatIsNotIsSaidToHaveLeftSomething() throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources:"
        + " {limits: {nvidia.com/gpu: 1}}}, {name: d, resources: {limits: {amd.com/gpu: 1, nvidia.com/gpu: 0}}}]}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.out()).contains("whole.gpu.partita.dev", "amd.com/gpu: 1");
    assertThat(run.err()).hasLineCount(1).contains("spec.containers[1].resources.limits[amd.com/gpu]: ");
  }

  @Test
  void annotationsOfSystemsThatThePodIsNotOfAreNamed() throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {gpu-fraction: '0.5',"
        + " gpu-fraction.limit: '0.8'}}, spec: {containers: [{name: c}]}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .contains("metadata.annotations[gpu-fraction]: is KAI's or Run:ai's in a pod with their schedulerName")
        .contains("metadata.annotations[gpu-fraction.limit]: is not converted");
  }

  @Test
  void quotasOfKueueObjectsOfNvidiasDriverAndClaimsOfElasticGpusAreNamed() throws IOException {
    Run run =
        convert("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {resourceGroups:"
            + " [{coveredResources: [cpu, nvidia.com/vgpu-number], flavors: []}]}}\n"
            + "---\n{apiVersion: resource.nvidia.com/v1beta1, kind: ComputeDomain, metadata: {name: d}, spec: {numNodes: 2}}\n"
            + "---\n{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing}}\n"
            + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {egpuc.elasticgpu.io/c: gpu}}, spec: {}}\n"
            + "---\n{apiVersion: resource.k8s.io/v1alpha3, kind: ResourceClaim, metadata: {name: c}, spec: {devices: {requests:"
            + " [{name: gpu, deviceClassName: gpu.nvidia.com}]}}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line).startsWith(
            "partita: ClusterQueue q: spec.resourceGroups[0].coveredResources[nvidia.com/vgpu-number]: counts"),
        line -> assertThat(line).startsWith("partita: ComputeDomain d: spec: is NVIDIA's"),
        line -> assertThat(line).startsWith("partita: GpuConfig").contains("is a part of a claim"),
        line -> assertThat(line)
            .startsWith("partita: Pod p: metadata.annotations[egpuc.elasticgpu.io/c]: is a claim of"),
        line -> assertThat(line).startsWith("partita: ResourceClaim c: apiVersion: is resource.k8s.io/v1alpha3"));
  }

  /** A name without a domain is none of a resource: what Kueue counts by it are claims. */
  @Test
  void aQuotaOfAnUnknownResourceOfGpusIsNamed() throws IOException {
    String queue =
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {resourceGroups:"
            + " [{coveredResources: [cpu, %s], flavors: []}]}}\n";

    Run run = convert(queue.formatted("foo.com/gpu"));

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .isEqualTo("partita: ClusterQueue q: spec.resourceGroups[0].coveredResources[foo.com/gpu]: looks"
            + " like a resource of GPUs, and no dialect that is known here has it: unless Kueue's deviceClassMappings have the"
            + " name, it counts nothing of pods that ask by claims (docs/how-to/use-kueue.md)\n");
    assertThat(convert(queue.formatted("gpu, foo.com/license, amd.com/gpu")).err()).isEmpty();
  }

  @Test
  void classesOfOnesOwnOfOtherDriversDevicesAreNamed() throws IOException {
    String deviceClass = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: %s}, spec: {selectors:"
        + " [{cel: {expression: device.driver == '%s'}}]}}\n";

    assertThat(convert(deviceClass.formatted("large", "gpu.nvidia.com")).err())
        .startsWith("partita: DeviceClass large: spec: is a class of your own, of devices of gpu.nvidia.com: make one");
    assertThat(convert(deviceClass.formatted("gpu.nvidia.com", "gpu.nvidia.com")).err()).isEmpty();
    assertThat(convert(deviceClass.formatted("large", "gpu.partita.dev")).err()).isEmpty();
  }

  @Test
  void aClassOfAnotherDriverThatServesAResourceOfPodsIsNamed() throws IOException {
    String deviceClass = "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu-manager}, spec:"
        + " {extendedResourceName: %s, selectors: [{cel: {expression: device.driver == 'manager.nvidia.com'}}]}}\n";

    Run run = convert(deviceClass.formatted("nvidia.com/gpu"));

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .isEqualTo("partita: DeviceClass gpu-manager: spec.extendedResourceName: gives pods that ask for"
            + " nvidia.com/gpu devices of manager.nvidia.com, and such pods are converted to ask for Partita's: take it out\n");
    assertThat(convert(deviceClass.formatted("example.com/card")).err()).isEmpty();
  }

  @Test
  void claimsInAnObjectThatIsNoneAreNamed() throws IOException {
    Run run = convert("{apiVersion: apps.example.com/v1, kind: Service, metadata: {name: s}, spec: {draResources:"
        + " [{devices: [{name: gpu, deviceClassName: gpu.nvidia.com}, {name: nic, deviceClassName: nic.example.com}]}]}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .isEqualTo("partita: Service s: spec.draResources[0].devices[0].deviceClassName: gpu.nvidia.com"
            + " is not converted: claims in Service are not known here\n");
  }

  @Test
  void resourcesThatStandForOurClassesAreOurs() throws IOException {
    String pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {limits:"
        + " {deviceclass.resource.kubernetes.io/%s: 1}}}]}}\n";

    assertThat(convert(pod.formatted("whole.gpu.partita.dev")).status()).isZero();
    assertThat(convert(pod.formatted("gpu.partita.dev")).status()).isZero();
    assertThat(convert(pod.formatted("gpu.nvidia.com")).err()).contains("is a class of another DRA driver");
  }

  @Test
  void cardsOfVirtualMachinesAreNamed() throws IOException {
    Run run = convert("{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: v}, spec: {template: {spec:"
        + " {domain: {devices: {gpus: [{deviceName: nvidia.com/GA102GL_A10, name: g}], hostDevices: [{deviceName:"
        + " nvidia.com/gpu, name: h}, {deviceName: example.com/nic, name: n}]}}}}}}");

    String where = "partita: VirtualMachine v: spec.template.spec.domain.devices.";
    String why = " hands a card to a virtual machine, which Partita does not";
    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).containsExactly(where + "gpus[0].deviceName: nvidia.com/GA102GL_A10" + why,
        where + "hostDevices[0].deviceName: nvidia.com/gpu" + why);
  }

  @Test
  void cardsOfSparksExecutorsAreNamed() throws IOException {
    Run run = convert("{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s}, spec:"
        + " {driver: {gpu: {name: nvidia.com/gpu, quantity: 0}}, executor: {gpu: {name: nvidia.com/gpu, quantity: 1}}}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).isEqualTo("partita: SparkApplication s: spec.executor.gpu[nvidia.com/gpu]: is not converted:"
        + " pods in SparkApplication are not known here\n");
  }

  @Test
  void gpusInTheConfigurationOfSparkAreNamed() throws IOException {
    Run run = convert("{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: s}, spec:"
        + " {sparkConf: {spark.driver.resource.gpu.amount: '0', spark.executor.resource.gpu.amount: '1'}}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).isEqualTo("partita: SparkApplication s: spec.sparkConf.spark.executor.resource.gpu.amount:"
        + " is not converted: pods in SparkApplication are not known here\n");
  }

  @Test
  void containersThatHaveCardsByNvidiasRuntimeAloneAreNamed() throws IOException {
    String env = "env: [{name: NVIDIA_VISIBLE_DEVICES, value: '%s'}]";
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, "
        + env.formatted("0,1") + "}, {name: b, " + env.formatted("void") + "}, {name: c, " + env.formatted("all")
        + ", resources: {limits: {nvidia.com/gpu: 1}}}]}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).as("the variable is the claim's in a container that has one").hasLineCount(1).startsWith(
        "partita: Pod p: spec.containers[0].env[NVIDIA_VISIBLE_DEVICES]: gives the container cards of its node without"
            + " a claim, ");
  }

  @Test
  void objectsOfJsonOneBehindTheOtherAreDocuments() throws IOException {
    String pod = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\"},\"spec\":%s}\n";
    String whole = "{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}";
    Run run = convert(pod.formatted("a", "{}") + pod.formatted("b", whole) + pod.formatted("c", "{}"));

    assertThat(run.err()).isEmpty();
    assertThat(run.status()).isZero();
    assertThat(run.out()).startsWith(pod.formatted("a", "{}") + "---\n").endsWith("---\n" + pod.formatted("c", "{}"))
        .contains("kind: ResourceClaimTemplate").contains("kind: Pod").doesNotContain("nvidia.com/gpu");
    Run broken = convert(pod.formatted("a", "{}") + "{\"kind\": \n");
    assertThat(broken.status()).isEqualTo(1);
    assertThat(broken.err()).hasLineCount(1).contains("in.yaml:2: is not YAML: ");
  }

  @Test
  void fractionsInAKindThatIsNotKnownAreNamed() throws IOException {
    Run run = convert("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: w}, spec: {template: {metadata:"
        + " {annotations: {gpu-fraction: '0.5'}}, spec: {schedulerName: kai-scheduler, containers: [{name: c}]}}}}");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).isEqualTo("partita: PyTorchJob w: spec.template.metadata.annotations[gpu-fraction]:"
        + " is not converted: pods in PyTorchJob are not known here\n");
  }

  @Test
  void quotasOfResourcesAndWorkloadsOfRunAiAreNamed() throws IOException {
    Run run = convert(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {requests.nvidia.com/gpu: 4, pods: 9}}}\n"
            + "---\n{apiVersion: run.ai/v2alpha1, kind: TrainingWorkload, metadata: {name: w}, spec: {gpu: {value: '0.5'}}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).hasSize(2)
        .anyMatch(line -> line
            .startsWith("partita: ResourceQuota q: spec.hard[requests.nvidia.com/gpu]: counts nothing of pods"))
        .anyMatch(line -> line.startsWith("partita: TrainingWorkload w: spec: is Run:ai's, of which"));
  }

  @Test
  void queuesOfVolcanoAndRangesOfContainersAreNamed() throws IOException {
    Run run = convert("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {capability:"
        + " {cpu: 8, nvidia.com/gpu: 8}}}\n"
        + "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minResources:"
        + " {volcano.sh/vgpu-number: 8}}}\n"
        + "---\n{apiVersion: v1, kind: LimitRange, metadata: {name: r}, spec: {limits: [{type: Container, default:"
        + " {cpu: 1, nvidia.com/gpu: 1}}]}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line)
            .startsWith("partita: Queue q: spec.capability[nvidia.com/gpu]: counts nothing of pods"),
        line -> assertThat(line)
            .startsWith("partita: PodGroup g: spec.minResources[volcano.sh/vgpu-number]: is waited for"),
        line -> assertThat(line)
            .startsWith("partita: LimitRange r: spec.limits[0].default[nvidia.com/gpu]: is of containers that ask"));
  }

  @Test
  void elasticQuotasAreNamed() throws IOException {
    Run run =
        convert("{apiVersion: scheduling.sigs.k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q}, spec: {min:"
            + " {cpu: 4, nvidia.com/gpu: 2}, max: {nvidia.com/gpu: 4}}}\n---\n{apiVersion: nos.example.com/v1, kind:"
            + " CompositeElasticQuota, metadata: {name: c}, spec: {min: {nos.example.com/gpu-memory: 16}}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line)
            .startsWith("partita: ElasticQuota q: spec.min[nvidia.com/gpu]: counts nothing of pods"),
        line -> assertThat(line).startsWith("partita: ElasticQuota q: spec.max[nvidia.com/gpu]: counts"),
        line -> assertThat(line)
            .startsWith("partita: CompositeElasticQuota c: spec.min[nos.example.com/gpu-memory]: counts"));
  }

  @Test
  void whatCountsClassesOfOtherDriversIsNamed() throws IOException {
    Run run = convert("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard:"
        + " {gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 4, gpu.partita.dev.deviceclass.resource.k8s.io/devices: 4,"
        + " requests.deviceclass.resource.kubernetes.io/mig.nvidia.com: 4}}}\n"
        + "---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: v}, spec: {guarantee:"
        + " {deviceclass/gpu.nvidia.com: 1}, deserved: {cores.deviceclass/hami-core-gpu.project-hami.io: 400}}}\n"
        + "---\n{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {deviceClassMappings:"
        + " [{name: gpus, deviceClassNames: [gpu.nvidia.com, gpu.partita.dev]}]}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).allMatch(line -> line.contains(": counts nothing of claims of other classes: name"))
        .extracting(line -> line.replaceFirst(": counts.*", "")).containsExactly(
            "partita: ResourceQuota q: spec.hard[gpu.nvidia.com.deviceclass.resource.k8s.io/devices]",
            "partita: ResourceQuota q: spec.hard[requests.deviceclass.resource.kubernetes.io/mig.nvidia.com]",
            "partita: Queue v: spec.guarantee[deviceclass/gpu.nvidia.com]",
            "partita: Queue v: spec.deserved[cores.deviceclass/hami-core-gpu.project-hami.io]",
            "partita: Configuration (no name): resources.deviceClassMappings[0].deviceClassNames[gpu.nvidia.com]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "batch/v1 | Job | spec.template | metadata | ''",
        "batch/v1 | CronJob | spec.jobTemplate.spec.template | spec.jobTemplate.metadata | spec.jobTemplate.",
        "apps/v1 | Deployment | spec.template | spec.template.metadata | spec.template.",
        "v1 | Pod | '' | metadata | ''"})
  void whatIsInAQueueOfKueueIsSaidToNeedItsClassThere(
      String apiVersion,
      String kind,
      String pod,
      String metadata,
      String where) throws IOException {
    ObjectNode object = JSON.valueToTree(YamlText.read(nested(apiVersion, kind, pod, "nvidia.com/gpu")));
    object.withObject("/" + metadata.replace('.', '/')).putObject("labels").put("kueue.x-k8s.io/queue-name", "team");
    Run run = convert(object.toString());

    assertThat(run.status()).isZero();
    assertThat(run.err()).isEqualTo("partita: " + kind + " w: " + where
        + "metadata.labels[kueue.x-k8s.io/queue-name]: is"
        + " a queue of Kueue's, which starts nothing of a class that it does not know: list the class that the claims"
        + " name in deviceClassMappings of its configuration (docs/how-to/use-kueue.md)\n");
    assertThat(convert(object.toString().replace("nvidia.com/gpu", "cpu")).err()).isEmpty();
  }

  @Test
  void whatKueueReadsOfResourcesAndOfClassesIsNamed() throws IOException {
    Run run = convert("""
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: kueue-manager-config}
        data:
          controller_manager_config.yaml: |
            kind: Configuration
            resources:
              # transformations: [{input: nvidia.com/mig-1g.5gb}]
              transformations:
              - {input: cpu, outputs: {credits: 1}}
              - input: nvidia.com/gpumem
              deviceClassMappings:
              - name: nics
                deviceClassNames: [nic.example.com]
              - name: gpus
                deviceClassNames:
                - gpu.partita.dev
                - gpu.nvidia.com
          commented: |
            #  - deviceClassNames: [gpu.nvidia.com]
            #    transformations: [{input: nvidia.com/gpu}]
          ours: 'deviceClassNames: [gpu.partita.dev], sources: [{driver: gpu.nvidia.com}]'
          json: '{"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "mig.nvidia.com"}}]}}'
        ---
        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        resources: {transformations: [{input: example.com/credits}, {input: nvidia.com/gpucores, strategy: Replace}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ProvisioningRequestConfig
        metadata: {name: p}
        spec: {managedResources: [cpu, nvidia.com/gpu]}
        """);

    assertThat(run.status()).isEqualTo(3);
    String text = "partita: ConfigMap kueue-manager-config: data.";
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line).startsWith(
            text + "controller_manager_config.yaml: names gpu.nvidia.com, a class of another DRA driver, in a text"),
        line -> assertThat(line).startsWith(
            text + "controller_manager_config.yaml: names nvidia.com/gpumem in a text, which is in no pod that asks"),
        line -> assertThat(line).startsWith(text + "json: names mig.nvidia.com, a class of another DRA driver"),
        line -> assertThat(line).startsWith("partita: Configuration (no name): resources.transformations[1].input:"
            + " nvidia.com/gpucores is in no pod that asks by claims, so that Kueue counts none of it"),
        line -> assertThat(line).startsWith("partita: ProvisioningRequestConfig p: spec.managedResources"
            + "[nvidia.com/gpu]: is in no pod that asks by claims, and Kueue has nodes added only for Jobs"));
  }

  @Test
  void flavorsOfKueueByLabelsOfNodesThatAnotherSystemServesAreNamed() throws IOException {
    Run run =
        convert("{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels:"
            + " {gpu: 'on', disk: ssd}}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).hasLineCount(1)
        .startsWith("partita: ResourceFlavor f: spec.nodeLabels[gpu]: is a label of nodes that HAMi serves");
  }

  @Test
  void limitsOfKarpentersNodesAreNoPods() throws IOException {
    Run run =
        convert("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {limits: {nvidia.com/gpu:"
            + " 8}}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .startsWith("partita: NodePool p: spec.limits[nvidia.com/gpu]: is not converted: Karpenter counts"
            + " what its provider says of nodes, and not what pods ask for");
  }

  @Test
  void cardsThatARuntimeOrAVolumeGivesAreNamed() throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {cdi.k8s.io/a: nvidia.com/gpu=0,"
        + " cdi.k8s.io/b: example.com/nic=0, nvidia.cdi.k8s.io/container.c: 'management.nvidia.com/gpu=all'}}, spec:"
        + " {containers: [{name: c}], volumes: [{name: a, hostPath: {path: /dev/nvidia0}}, {name: b, hostPath: {path:"
        + " /dev/nvidiactl}}]}}\n");

    String why =
        " without a claim, and Partita holds it to nothing: ask for them in limits or a claim, unless it is there"
            + " to watch cards";
    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).containsExactly(
        "partita: Pod p: metadata.annotations[cdi.k8s.io/a]: gives the pod cards of its node" + why,
        "partita: Pod p: metadata.annotations[nvidia.cdi.k8s.io/container.c]: gives the pod cards of its node" + why,
        "partita: Pod p: spec.volumes[0].hostPath.path: gives the pod a card of its node" + why);
  }

  /** KAI's example of MPS, and GKE's. */
  @Test
  void aDaemonOfMpsThatAVolumeLeadsToIsNamedBesideWhatIsConverted() throws IOException {
    Run run =
        convert("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {limits:"
            + " {nvidia.com/gpu: 1}}}], volumes: [{name: mps, hostPath: {path: /tmp/nvidia-mps, type: DirectoryOrCreate}}]}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.objects()).hasSize(2);
    assertThat(run.err()).hasLineCount(1).startsWith("partita: Pod p: spec.volumes[0].hostPath.path: leads to an MPS"
        + " daemon of the node, which knows of no claims: ");
  }

  @ParameterizedTest
  @CsvSource({
    "GPUResourceQuota, counts nothing of pods that ask by claims",
    "WorkloadProfile, is Tensor Fusion's",
    "TensorFusionWorkload, is Tensor Fusion's"})
  void whatTensorFusionMakesPodsOfIsNamed(String kind, String why) throws IOException {
    Run run = convert("{apiVersion: tensor-fusion.ai/v1, kind: " + kind + ", metadata: {name: a}, spec: {}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).hasLineCount(1).startsWith("partita: " + kind + " a: spec: " + why);
    assertThat(convert("{apiVersion: tensor-fusion.ai/v1, kind: GPUPool, metadata: {name: a}, spec: {}}\n").status())
        .isZero();
  }

  @Test
  void eachOfKubeSharesLabelsIsToldWhatToAskFor() throws IOException {
    Run run = convert("{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {sharedgpu/gpu_request: '0.5',"
        + " sharedgpu/gpu_limit: '1.0', sharedgpu/gpu_mem: '3073741824', sharedgpu/priority: '0'}}, spec: {containers:"
        + " [{name: c}]}}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line).contains("labels[sharedgpu/gpu_request]: is KubeShare's", "cores, 50 for 0.5"),
        line -> assertThat(line).contains("labels[sharedgpu/gpu_limit]: is KubeShare's", "Soft for a limit of 1.0"),
        line -> assertThat(line).contains("labels[sharedgpu/gpu_mem]: is KubeShare's, in bytes"));
  }

  @Test
  void whatAsksTensorFusionForAnotherVendorsCardsIsNamedAsThat() throws IOException {
    String pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {tensor-fusion.ai/vendor: %s,"
        + " tensor-fusion.ai/vram-request: 1Gi}}, spec: {containers: [{name: c}]}}\n";

    assertThat(convert(pod.formatted("Ascend")).err()).hasLineCount(1).startsWith("partita: Pod a:"
        + " metadata.annotations[tensor-fusion.ai/vram-request]: is of another vendor's devices");
    assertThat(convert(pod.formatted("nvidia")).err()).contains("is Tensor Fusion's");
  }

  @Test
  void limitsOfKaisQueuesAreNamed() throws IOException {
    String queue = "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources:"
        + " {cpu: {quota: 4, limit: 8}, gpu: {quota: %d, limit: %d, overQuotaWeight: 1}}}}\n";

    Run run = convert(queue.formatted(0, 8));

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err())
        .startsWith("partita: Queue q: spec.resources[gpu]: counts nothing of pods that ask by claims");
    assertThat(convert(queue.formatted(2, -1)).status()).isEqualTo(3);
    assertThat(convert(queue.formatted(0, -1)).status()).isZero();
    assertThat(convert("{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}, spec: {resources:"
        + " {gpu: ResourceQuota}}}").err())
        .isEqualTo(
            "partita: Queue q: spec.resources[gpu]: counts nothing of pods that ask by claims; make a GpuQuota of"
                + " it (docs/how-to/set-quotas.md)\n");
  }

  @Test
  void classesInAnnotationsByWhichOperatorsMakeClaimsAreNamed() throws IOException {
    String service =
        "{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, metadata: {name: s, annotations:"
            + " {serving.kserve.io/exp-dra-device-class: %s}}, spec: {replicas: 1}}\n";

    Run run = convert(service.formatted("gpu.nvidia.com"));

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).startsWith("partita: LLMInferenceService s:"
        + " metadata.annotations[serving.kserve.io/exp-dra-device-class]: gpu.nvidia.com is a class of another DRA driver");
    assertThat(convert(service.formatted("whole.gpu.partita.dev")).status()).isZero();
  }

  @Test
  void gpusThatABuiltInObjectHasOutsideOfItsPodAreNamed() throws IOException {
    Run run = convert("{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: " + WHOLE + "}\n");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err()).isEqualTo("partita: Deployment d: spec.containers[0].resources.limits[nvidia.com/gpu]:"
        + " is not converted: the pod of a Deployment is its spec.template\n");
  }

  @Test
  void whoLeavesHearsOfPodsThatAskForOurClassesWithoutAClaim() throws IOException {
    Path file = Files.writeString(folder.resolve("pods.yaml"), "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec:"
        + " {containers: [{name: c, resources: {limits: {deviceclass.resource.kubernetes.io/whole.gpu.partita.dev: 1}}}]}}\n"
        + "---\n{apiVersion: apps.example.com/v1, kind: Service, metadata: {name: s}, spec: {devices:"
        + " [{deviceClassName: whole.gpu.partita.dev}, {deviceClassName: nic.example.com}]}}\n");

    Run run = run("-f", file.toString(), "--to", "nvidia-dra");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line).startsWith("partita: Pod a: spec.containers[0].resources.limits"
            + "[deviceclass.resource.kubernetes.io/whole.gpu.partita.dev]: is a class of Partita's"),
        line -> assertThat(line)
            .startsWith("partita: Service s: spec.devices[0].deviceClassName: is a class of Partita's"));
  }

  @Test
  void whoLeavesHearsOfWhatCountsOurClassesAndOfClassesOfOurDevices() throws IOException {
    Path file = Files.writeString(folder.resolve("all.yaml"),
        """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: large}
            spec: {selectors: [{cel: {expression: device.driver == 'gpu.partita.dev'}}]}
            ---
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: whole.gpu.partita.dev}
            spec: {selectors: [{cel: {expression: device.driver == 'gpu.partita.dev'}}]}
            ---
            apiVersion: v1
            kind: ResourceQuota
            metadata: {name: q}
            spec: {hard: {whole.gpu.partita.dev.deviceclass.resource.k8s.io/devices: 4, gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 4}}
            ---
            apiVersion: gpu.partita.dev/v1alpha1
            kind: GpuQuota
            metadata: {name: q}
            spec: {memory: 80Gi}
            ---
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [h200.gpu.partita.dev, gpu.nvidia.com]}]}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: c}
            data: {a: 'deviceClassName: whole.gpu.partita.dev', b: 'deviceClassName: gpu.nvidia.com'}
            """);

    Run run = run("-f", file.toString(), "--to", "nvidia-dra");

    assertThat(run.status()).isEqualTo(3);
    assertThat(run.err().lines()).satisfiesExactly(
        line -> assertThat(line).startsWith("partita: DeviceClass large: spec: is a class of your own, of devices of"
            + " gpu.partita.dev: make one of devices of gpu.nvidia.com"),
        line -> assertThat(line).startsWith("partita: ResourceQuota q: spec.hard"
            + "[whole.gpu.partita.dev.deviceclass.resource.k8s.io/devices]: counts nothing of claims of other classes"),
        line -> assertThat(line).startsWith("partita: GpuQuota q: spec: counts claims of Partita's classes alone"),
        line -> assertThat(line).startsWith("partita: Configuration (no name): resources.deviceClassMappings[0]"
            + ".deviceClassNames[h200.gpu.partita.dev]: counts nothing of claims of other classes"),
        line -> assertThat(line)
            .startsWith("partita: ConfigMap c: data.a: names whole.gpu.partita.dev, a class of Partita's, in a text"));
  }

  @Test
  void whoLeavesGetsClaimsOfNvidiasDriverAndPodsAsTheyWere() throws IOException {
    String pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " + WHOLE + "}\n";
    Path file = Files.writeString(folder.resolve("claims.yaml"), pod
        + "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, spec: {devices: {requests:"
        + " [{name: gpu, exactly: {deviceClassName: whole.gpu.partita.dev}}]}}}\n");

    Run run = run("-f", file.toString(), "--to", "nvidia-dra");

    assertThat(run.status()).isZero();
    assertThat(run.out()).startsWith(pod).contains("deviceClassName: gpu.nvidia.com");
    assertThat(run("-f", file.toString(), "--to", "kai").status()).isEqualTo(2);
  }

  @Test
  void aMissingFileAndBadYamlAreOneLineEach() throws IOException {
    Run missing = run("-f", folder.resolve("no.yaml").toString());
    Run bad = convert("a: 1\n---\nb: [1\n");
    Run twice = convert("kind: Pod\nkind: Pod\n");

    assertThat(missing.status()).isEqualTo(1);
    assertThat(missing.err()).isEqualTo("partita: there is no file " + folder.resolve("no.yaml") + "\n");
    assertThat(bad.status()).isEqualTo(1);
    assertThat(bad.err()).contains("in.yaml:4: is not YAML: ");
    assertThat(bad.out()).isEmpty();
    assertThat(twice.err()).contains("in.yaml:2: is not YAML: found duplicate key kind");
    assertThat(run().status()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"metadata: {name: {{ .Release.Name }}}", "metadata:\n{{- if .Values.a }}\n  name: a\n{{- end }}"})
  void aChartOfHelmIsToBeRenderedFirst(String metadata) throws IOException {
    Run run = convert("apiVersion: v1\nkind: Pod\nspec: " + WHOLE + "\n" + metadata + "\n");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).hasLineCount(1).contains("is not YAML: ").contains("convert what `helm template` writes");
  }

  @Test
  void helpHasTheExitStatusAndSaysThatCommentsAreLost() {
    String help = new CommandLine(new ConvertCommand()).getUsageMessage(CommandLine.Help.Ansi.OFF);

    assertThat(help).contains("comments are lost", "Exit status:", "stayed as it was", "--card-memory",
        "convert -f pods.yaml", "--gpu-mem-unit");
  }

  private static String nested(String apiVersion, String kind, String path, String resource) {
    String pod = "spec: " + WHOLE.replace("nvidia.com/gpu", resource);
    if (!path.isEmpty()) {
      List<String> fields = List.of(path.split("\\."));
      pod = String.join(": {", fields) + ": {" + pod + "}".repeat(fields.size());
    }
    return "{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {name: w}, " + pod + "}";
  }

  private Run convert(String text) throws IOException {
    return run("-f", Files.writeString(folder.resolve("in.yaml"), text).toString());
  }

  private static Run run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine partita = Partita.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int status = partita.execute(Stream.concat(Stream.of("convert"), Stream.of(arguments)).toArray(String[]::new));
    return new Run(status, out.toString(), err.toString());
  }
}
