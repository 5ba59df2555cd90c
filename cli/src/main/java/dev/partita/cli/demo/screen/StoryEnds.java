package dev.partita.cli.demo.screen;

/** Something that the rest of the story stands on did not happen. */
public final class StoryEnds extends Exception {
  private static final long serialVersionUID = 1L;

  StoryEnds(String message) {
    super(message);
  }
}
