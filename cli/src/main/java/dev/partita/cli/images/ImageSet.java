package dev.partita.cli.images;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.command.CommandFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * The images of one command: which of them, for which processors, on what.
 *
 * @param names of images; all that are laid out if empty
 * @param processors for which they are made
 * @param base of all of them; what each Containerfile names if empty
 * @param registry in their names, without a slash behind it
 * @param tag in their names
 * @param insecure whether registries may be asked over HTTP
 * @param cache where layers are kept
 */
public record ImageSet(
    List<String> names,
    List<Processor> processors,
    Optional<String> base,
    String registry,
    String tag,
    boolean insecure,
    Path cache) {
  /** @throws CommandFailure if no image can have such a name, or such a base */
  public ImageSet {
    names = List.copyOf(names);
    processors = List.copyOf(processors);
    registry = registry.replaceAll("/+$", "");
    ImageBuilder.reference(registry + "/probe:" + tag);
    if (base.isPresent()) {
      BaseImage.of(base.get()).checkFor(processors);
    }
  }

  /**
   * An image that was made.
   *
   * @param name such as kubelet-plugin
   * @param archive where it lies
   * @param content what the archive says of it
   * @param sbom the list of what it holds
   */
  public record Made(String name, Path archive, OciArchive content, Path sbom) {}

  /** @throws CommandFailure if one of the names is none of these images' */
  void checkAmong(Collection<String> images) {
    names.stream().filter(name -> !images.contains(name)).findFirst().ifPresent(unknown -> {
      throw CommandFailure.usage("there is no image '%s': there are %s".formatted(unknown, String.join(", ", images)));
    });
  }

  /** Writes the archive of each image and processor into a folder, and beside it the list of what it holds. */
  public List<Made> archive(StagedImages staged, Path output, Provenance provenance, Progress progress) {
    ImageBuilder builder = builder();
    List<Made> made = new ArrayList<>();
    for (ImageRequest request : requests(staged, provenance)) {
      progress.step("image %s for %s on %s".formatted(request.staged().name(), request.processor(), request.base()));
      Path file = output.resolve(request.fileName());
      OciArchive content = builder.toArchive(request, file);
      made.add(new Made(request.staged().name(), file, content, new Sbom(request).write(output)));
    }
    return made;
  }

  /**
   * Pushes what was made: under its tag what is for one processor; what is for several under {@code TAG-PROCESSOR}
   * each, and under the tag an index of them.
   *
   * @return by image, the digest under the tag
   */
  public SequencedMap<String, String> push(
      StagedImages staged,
      List<Made> made,
      Provenance provenance,
      Progress progress) {
    ImageBuilder builder = builder();
    SequencedMap<String, String> digests = new LinkedHashMap<>();
    for (ImageRequest request : requests(staged, provenance)) {
      String tagged = processors.size() == 1 ? tag : tag + "-" + request.processor();
      progress.step("pushing " + request.reference(tagged));
      digests.put(request.staged().name(), builder.toRegistry(request, tagged));
    }
    if (processors.size() > 1) {
      for (String name : List.copyOf(digests.keySet())) {
        List<OciArchive> each = made.stream().filter(one -> one.name().equals(name)).map(Made::content).toList();
        String reference = registry + "/" + name + ":" + tag;
        progress.step("pushing %s, an index of %d processors".formatted(reference, each.size()));
        digests.put(name, new ImageIndex(each).push(ImageBuilder.reference(reference), insecure, builder.logins()));
      }
    }
    return digests;
  }

  private ImageBuilder builder() {
    return new ImageBuilder(cache, insecure);
  }

  private List<ImageRequest> requests(StagedImages staged, Provenance provenance) {
    List<ImageRequest> requests = new ArrayList<>();
    for (Processor processor : processors) {
      for (StagedImage image : named(staged.of(processor))) {
        requests
            .add(new ImageRequest(image, processor, BaseImage.of(base.orElseGet(() -> image.containerfile().base())),
                registry, tag, provenance));
      }
    }
    return requests;
  }

  private List<StagedImage> named(List<StagedImage> all) {
    checkAmong(all.stream().map(StagedImage::name).toList());
    return all.stream().filter(image -> names.isEmpty() || names.contains(image.name())).toList();
  }
}
