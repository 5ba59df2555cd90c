package dev.partita.plugin.podresources;

import dev.partita.api.Driver;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.podresources.v1.CDIDevice;
import k8s.io.kubelet.pkg.apis.podresources.v1.ClaimResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.DynamicResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesRequest;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResourcesListerGrpc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks kubelet which containers have which of this driver's devices (KEP-606, KEP-3695). kubelet answers from memory,
 * and nobody else knows it without a right to read pods.
 */
public final class ContainerDevices {
  private static final Logger LOG = LoggerFactory.getLogger(ContainerDevices.class);
  private static final int PATIENCE_MS = 1_000;

  /** kubelet's own clients allow as much: k8s.io/kubelet, podresources, 16 MiB. */
  private static final int MOST_BYTES = 16 << 20;

  private final Path socket;
  private boolean failed;

  /** @param socket kubelet's, such as /var/lib/kubelet/pod-resources/kubelet.sock */
  public ContainerDevices(Path socket) {
    this.socket = socket;
  }

  /**
   * Asks now.
   *
   * @return the containers by CDI id of a device of this driver; empty where kubelet does not answer within a second
   */
  public Map<String, List<ContainerRef>> byCdiId() {
    if (!Files.exists(socket)) {
      return said(Map.of(), "there is no " + socket);
    }
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
            .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class).eventLoopGroup(group)
            .overrideAuthority("localhost").maxInboundMessageSize(MOST_BYTES).usePlaintext().build();
    try {
      ListPodResourcesResponse answer =
          PodResourcesListerGrpc.newBlockingStub(channel).withDeadlineAfter(PATIENCE_MS, TimeUnit.MILLISECONDS)
              .list(ListPodResourcesRequest.getDefaultInstance());
      return said(read(answer), "");
    } catch (StatusRuntimeException e) {
      return said(Map.of(), e.getStatus().toString());
    } finally {
      channel.shutdownNow();
      var _ = group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }
  }

  static Map<String, List<ContainerRef>> read(ListPodResourcesResponse answer) {
    Map<String, List<ContainerRef>> containers = new TreeMap<>();
    for (PodResources pod : answer.getPodResourcesList()) {
      for (ContainerResources container : pod.getContainersList()) {
        ContainerRef ref = new ContainerRef(pod.getNamespace(), pod.getName(), container.getName());
        for (DynamicResource claim : container.getDynamicResourcesList()) {
          claim.getClaimResourcesList().stream()
              .filter(device -> device.getDriverName().equals(Driver.NAME))
              .map(ClaimResource::getCdiDevicesList).flatMap(List::stream).map(CDIDevice::getName)
              .forEach(id -> containers.merge(id, List.of(ref), ContainerDevices::joined));
        }
      }
    }
    return containers;
  }

  private static List<ContainerRef> joined(List<ContainerRef> some, List<ContainerRef> more) {
    return java.util.stream.Stream.concat(some.stream(), more.stream()).distinct().toList();
  }

  private Map<String, List<ContainerRef>> said(Map<String, List<ContainerRef>> answer, String problem) {
    if (!problem.isEmpty() && !failed) {
      LOG.warn("metrics have no names of pods and containers, for kubelet does not tell them: {}", problem);
    }
    failed = !problem.isEmpty();
    return answer;
  }
}
