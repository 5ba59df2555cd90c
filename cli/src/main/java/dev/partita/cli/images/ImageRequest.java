package dev.partita.cli.images;

import dev.partita.cli.checkout.StagedImage;

/**
 * An image to be made.
 *
 * @param staged what it holds, laid out
 * @param processor what its programs are compiled for
 * @param base what it lies on
 * @param registry where it will be, such as registry.example/partita
 * @param tag such as v1
 * @param provenance of its sources
 */
record ImageRequest(
    StagedImage staged,
    Processor processor,
    BaseImage base,
    String registry,
    String tag,
    Provenance provenance) {
  /** Its name with a tag. */
  String reference(String tagged) {
    return registry + "/" + staged.name() + ":" + tagged;
  }

  /** Its archive's file name. */
  String fileName() {
    return staged.name() + "-linux-" + processor + ".tar";
  }
}
