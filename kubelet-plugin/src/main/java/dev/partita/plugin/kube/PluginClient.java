package dev.partita.plugin.kube;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.partita.api.ApiServerJson;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * Makes the plugin's client. It does not repeat calls, since {@link ApiCalls} does.
 *
 * <p>Of pods, nodes and claims it reads what the plugin needs to know, and no more. Everything that a pod can say is a
 * model of several hundred classes, which would stay in memory on every node for the sake of a few names. And whoever
 * may write pods and claims has a megabyte in each for whatever they like, while kubelet asks for all claims of a pod
 * at once. Nor does the client look for every kind of object that there is: it is given those that the program uses.
 */
public final class PluginClient {
  private PluginClient() {}

  /** A client for the API server that this process's environment names. */
  public static KubernetesClient make() {
    Config config =
        new ConfigBuilder(Config.autoConfigure(null)).withRequestRetryBackoffLimit(0).withRequestTimeout(15_000)
            .build();
    return new KubernetesClientBuilder().withConfig(config).withKubernetesSerialization(serialization()).build();
  }

  /** How that client reads and writes objects. */
  public static KubernetesSerialization serialization() {
    ObjectMapper mapper = ApiServerJson.mapper();
    mapper.addMixIn(ObjectMeta.class, MetadataFields.class);
    mapper.addMixIn(Node.class, NodeFields.class);
    mapper.addMixIn(Pod.class, PodFields.class);
    mapper.addMixIn(ResourceClaim.class, ClaimFields.class);
    mapper.addMixIn(AllocationResult.class, AllocationFields.class);
    mapper.addMixIn(OpaqueDeviceConfiguration.class, OpaqueFields.class);
    mapper.addMixIn(PodSpec.class, SpecFields.class);
    mapper.addMixIn(PodStatus.class, StatusFields.class);
    mapper.addMixIn(ContainerStatus.class, ContainerStatusFields.class);
    mapper.addMixIn(Container.class, ContainerFields.class);
    mapper.addMixIn(ResourceRequirements.class, ResourceFields.class);
    return new KubernetesSerialization(mapper, false);
  }

  @JsonIgnoreProperties("managedFields")
  private interface MetadataFields {}

  @JsonIncludeProperties({"apiVersion", "kind", "metadata"})
  private interface NodeFields {}

  @JsonIncludeProperties({"apiVersion", "kind", "metadata", "spec", "status"})
  interface PodFields {
    @JsonDeserialize(using = NeededMetadata.class)
    void setMetadata(ObjectMeta metadata);
  }

  @JsonIncludeProperties({"apiVersion", "kind", "metadata", "status"})
  interface ClaimFields {
    @JsonDeserialize(using = NeededMetadata.class)
    void setMetadata(ObjectMeta metadata);
  }

  @JsonIncludeProperties("devices")
  private interface AllocationFields {}

  @JsonDeserialize(using = OwnConfigs.class)
  private interface OpaqueFields {}

  @JsonIncludeProperties({"containers", "initContainers", "resourceClaims"})
  private interface SpecFields {}

  @JsonIncludeProperties({"containerStatuses", "extendedResourceClaimStatus", "initContainerStatuses",
    "resourceClaimStatuses"})
  private interface StatusFields {}

  @JsonIncludeProperties({"containerID", "name"})
  private interface ContainerStatusFields {}

  @JsonIncludeProperties({"name", "resources"})
  private interface ContainerFields {}

  @JsonIncludeProperties("claims")
  private interface ResourceFields {}
}
