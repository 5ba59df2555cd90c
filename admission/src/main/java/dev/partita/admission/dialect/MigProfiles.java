package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.InstanceSize;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.PodContext;
import dev.partita.api.Driver;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * MIG instances by a resource for each profile, as NVIDIA's device plugin names them with its strategy {@code mixed}: a
 * dot stands there for what NVML writes as a plus ({@code mig-1g.10gb.me} for {@code 1g.10gb+me}).
 */
final class MigProfiles implements DialectReader.OfResources {
  private static final String PREFIX = "nvidia.com/mig-";

  /** What the device plugin writes behind the names of instances that several containers have in turn. */
  private static final String SHARED = ".shared";

  @Override
  public Set<String> resources() {
    return Set.of(PREFIX + "<profile>");
  }

  @Override
  public boolean understands(String resource) {
    return resource.startsWith(PREFIX) && InstanceSize.Profile.isName(profile(resource));
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    String resource = asked.one("profile", problems);
    if (resource.endsWith(SHARED)) {
      problems.add(new FieldError(asked.pathOf(resource), "has an instance in turn with others: ask for a part of its"
          + " memory by class " + Driver.MIG_SHARE_CLASS + ", or for all of it by " + withoutShared(resource)));
    }
    OptionalInt count = Cards.count(asked, resource, problems);
    CardChoice choice = ChoiceAnnotations.HAMI.cards(pod, problems);
    reported.addAll(problems);
    return problems.isEmpty() && count.isPresent()
        ? Optional.of(new GpuRequest(count.getAsInt(),
            new Portion.Instance(new InstanceSize.Profile(profile(resource))), choice, ShareOptions.NONE))
        : Optional.empty();
  }

  private static String withoutShared(String resource) {
    return resource.endsWith(SHARED) ? resource.substring(0, resource.length() - SHARED.length()) : resource;
  }

  private static String profile(String resource) {
    String profile = withoutShared(resource).substring(PREFIX.length());
    int memory = profile.indexOf("gb.");
    return memory < 0 ? profile : profile.substring(0, memory + 2) + "+" + profile.substring(memory + 3);
  }
}
