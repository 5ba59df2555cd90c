package dev.partita.cli.release;

import dev.partita.cli.images.Provenance;

/**
 * What everything in a release agrees on.
 *
 * @param provenance version, commit and time of the sources
 * @param registry where the images are to be, such as registry.example/partita
 * @param tag of the images
 * @param url of the folder in which the files are to be
 */
record ReleaseFacts(Provenance provenance, String registry, String tag, String url) {
  String version() {
    return provenance.version();
  }
}
