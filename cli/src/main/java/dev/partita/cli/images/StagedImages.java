package dev.partita.cli.images;

import dev.partita.cli.checkout.StagedImage;
import java.nio.file.Path;
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

  /** The images of a processor. */
  List<StagedImage> of(Processor processor) {
    return StagedImage.below(folders.getOrDefault(processor, Path.of("")));
  }
}
