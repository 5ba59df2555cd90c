package dev.partita.plugin.metadata;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MigProfile;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * What the containers of one request of a claim are told of its devices: a DeviceMetadata of
 * {@code metadata.resource.k8s.io} (k8s.io/dynamic-resource-allocation/api/metadata). A file is a stream with the same
 * in each version, the newest first. A device's attributes are those of its ResourceSlice, and what its containers are
 * held to: {@code memoryLimit} in bytes, and {@code coreLimit} in percent where there is one.
 *
 * @param podClaimName of a claim that was made from a template
 * @param request its name as the allocation's results have it
 * @param pool of its devices
 */
public record DeviceMetadata(
    ClaimRef claim,
    Optional<String> podClaimName,
    String request,
    String pool,
    List<Device> devices) {

  /** Kubernetes 1.37 and later know the first, 1.36 the second; their content is the same. */
  private static final List<String> VERSIONS =
      List.of("metadata.resource.k8s.io/v1beta1", "metadata.resource.k8s.io/v1alpha1");

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static final DefaultIndenter INDENT = new DefaultIndenter("  ", "\n");

  /** As Kubernetes' own library writes it. */
  private static final ObjectWriter WRITER =
      MAPPER.writer(
          new DefaultPrettyPrinter(
              Separators.createDefaultInstance().withObjectFieldValueSpacing(Separators.Spacing.AFTER))
              .withObjectIndenter(INDENT)
              .withArrayIndenter(INDENT));

  public DeviceMetadata {
    devices = List.copyOf(devices);
  }

  /**
   * A device.
   *
   * @param name in its pool
   * @param attributes by their names as a ResourceSlice has them
   */
  public record Device(String name, SortedMap<String, AttributeValue> attributes) {}

  /**
   * The metadata of a request.
   *
   * @param claim whose names are known
   * @param request without a subrequest
   * @param pool this node's
   * @param cards the node's cards as they are now
   * @throws IllegalStateException if a card of the claim is not among them
   */
  public static DeviceMetadata of(PreparedClaim claim, String request, String pool, Inventory.Cards cards) {
    MetadataNames names = claim.names().orElseThrow();
    List<Device> devices = claim.grants().stream().filter(grant -> grant.requests().contains(request))
        .map(grant -> new Device(grant.device(), attributes(grant, cards))).toList();
    return new DeviceMetadata(claim.claim(), names.podClaimName(), names.resultName(request), pool, devices);
  }

  private static SortedMap<String, AttributeValue> attributes(Grant grant, Inventory.Cards cards) {
    Gpu gpu = cards.byUuid(grant.card().uuid())
        .orElseThrow(() -> new IllegalStateException("card " + grant.card().uuid() + " does not answer"));
    DeviceName name = DeviceName.parse(grant.device()).orElseThrow();
    Optional<MigProfile> profile = name.instance().flatMap(gpu::migProfile);
    SortedMap<String, AttributeValue> attributes =
        DeviceAttribute.allOf(
            new DeviceAttribute.Source(
                cards.driverVersion().orElse(null), cards.cudaDriverVersion().orElse(null), gpu, name, profile));
    attributes.put(
        DeviceStatusData.MEMORY_LIMIT.key(), new AttributeValue.Int(grant.use().memoryBytes(grant.card())));
    grant.use().coreLimit()
        .ifPresent(percent -> attributes.put(DeviceStatusData.CORE_LIMIT.key(), new AttributeValue.Int(percent)));
    return attributes;
  }

  /** The file's content. */
  byte[] at(long generation) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    for (String version : VERSIONS) {
      try {
        stream.writeBytes(WRITER.writeValueAsBytes(document(version, generation)));
      } catch (IOException e) {
        throw new IllegalStateException("a tree is always JSON", e);
      }
      stream.write('\n');
    }
    return stream.toByteArray();
  }

  private ObjectNode document(String version, long generation) {
    ObjectNode document = MAPPER.createObjectNode().put("kind", "DeviceMetadata").put("apiVersion", version);
    document.putObject("metadata")
        .put("name", claim.name())
        .put("namespace", claim.namespace())
        .put("uid", claim.uid())
        .put("generation", generation);
    podClaimName.ifPresent(name -> document.put("podClaimName", name));
    ObjectNode of = document.putArray("requests").addObject().put("name", request);
    var all = of.putArray("devices");
    for (Device device : devices) {
      ObjectNode one = all.addObject().put("driver", Driver.NAME).put("pool", pool).put("name", device.name());
      ObjectNode attributes = one.putObject("attributes");
      device.attributes().forEach((name, value) -> put(attributes.putObject(name), value));
    }
    return document;
  }

  private static void put(ObjectNode attribute, AttributeValue value) {
    switch (value) {
      case AttributeValue.Text(String text) -> attribute.put("string", text);
      case AttributeValue.Int(long number) -> attribute.put("int", number);
      case AttributeValue.Flag(boolean flag) -> attribute.put("bool", flag);
      case AttributeValue.Version(var version) -> attribute.put("version", version.toString());
    }
  }

  /** The generation of a file that was written before; 0 if that is no such file. */
  static long generationOf(byte[] file) {
    try {
      return Math.max(0, MAPPER.readTree(file).path("metadata").path("generation").asLong());
    } catch (IOException e) {
      return 0;
    }
  }
}
