package dev.partita.cli.images;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Where what images hold is laid out.
 *
 * @param folders by processor
 */
public record StagedImages(Map<Processor, Path> folders) {
  public StagedImages {
    folders = Map.copyOf(folders);
  }

  /** Lays out a release's for each processor, after it has looked whether it can for all of them. */
  public static StagedImages layOut(List<Processor> processors, Staging staging, Progress progress) {
    processors.forEach(staging::check);
    Map<Processor, Path> folders = new EnumMap<>(Processor.class);
    processors.forEach(each -> folders.put(each, staging.layOut(each, progress)));
    return new StagedImages(folders);
  }

  /** The images of a processor. */
  List<StagedImage> of(Processor processor) {
    return StagedImage.below(folders.getOrDefault(processor, Path.of("")));
  }
}
