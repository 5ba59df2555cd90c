package dev.partita.api.resize;

import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sizes that the controller has granted to shares of a claim in the place of those that they were allocated, as the
 * annotation {@link Driver#GRANTED_SIZES_ANNOTATION} has them. They stand by shareID, which no later allocation of the
 * claim has: then they mean nothing any more.
 *
 * @param byShareId in lower case
 */
public record GrantedSizes(Map<String, ShareSize> byShareId) {
  public static final GrantedSizes NONE = new GrantedSizes(Map.of());

  private static final int LONGEST = 16 << 10;

  public GrantedSizes {
    byShareId = java.util.Collections.unmodifiableMap(new TreeMap<>(byShareId));
  }

  /** Those on an object; none if its annotation is not there, or is not one that the controller writes. */
  public static GrantedSizes of(HasMetadata object) {
    return Annotations.value(object, Driver.GRANTED_SIZES_ANNOTATION).filter(text -> text.length() <= LONGEST)
        .map(GrantedSizes::parse).orElse(NONE);
  }

  private static GrantedSizes parse(String text) {
    Map<String, ShareSize> sizes = new TreeMap<>();
    for (String part : text.split(";", -1)) {
      int colon = part.indexOf(':');
      Optional<ShareSize> size = colon < 0 ? Optional.empty() : ShareSize.parse(part.substring(colon + 1));
      if (size.isEmpty()) {
        return NONE;
      }
      sizes.put(part.substring(0, colon), size.get());
    }
    return new GrantedSizes(sizes);
  }

  /** The size of the share of that ID, in whatever case; empty if it has what it was allocated. */
  public Optional<ShareSize> ofShare(@Nullable String shareId) {
    return shareId == null ? Optional.empty() : Optional.ofNullable(byShareId.get(key(shareId)));
  }

  /** The share ID by which sizes are kept. */
  public static String key(String shareId) {
    return shareId.toLowerCase(Locale.ROOT);
  }

  /** Whether the object has any. */
  public static boolean isOn(HasMetadata object) {
    return !of(object).byShareId().isEmpty();
  }

  /** The claim as if it had them. */
  public ResourceClaim on(ResourceClaim claim) {
    return new ResourceClaimBuilder(claim).editMetadata()
        .addToAnnotations(Driver.GRANTED_SIZES_ANNOTATION, toString()).endMetadata().build();
  }

  /** {@code 0b5e8a9e-…:memory=8Gi,cores=40;…}. */
  @Override
  public String toString() {
    return byShareId.entrySet().stream().map(entry -> entry.getKey() + ":" + entry.getValue())
        .collect(Collectors.joining(";"));
  }
}
