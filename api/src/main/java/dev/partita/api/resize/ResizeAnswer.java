package dev.partita.api.resize;

import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import dev.partita.api.Excerpt;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/**
 * What became of a size that a claim's owner asked for, as the annotation {@link Driver#RESIZE_ANSWER_ANNOTATION} has
 * it: {@code memory=12Gi,cores=40: granted}. It says to what it is the answer, for the owner may ask anew meanwhile.
 *
 * @param asked what was asked for, as {@link Driver#RESIZE_ANNOTATION} had it; cut off where that is long
 * @param words {@link #GRANTED}, or begins with {@link #WAITS} or {@link #REFUSED} and says why
 */
public record ResizeAnswer(String asked, String words) {
  public static final String GRANTED = "granted";
  public static final String WAITS = "waits: ";
  public static final String REFUSED = "refused: ";

  private static final int QUOTED = 200;
  private static final String SEPARATOR = ": ";

  public ResizeAnswer {
    asked = Excerpt.of(asked, QUOTED);
  }

  /** The one on an object; empty if there is none that the controller writes. */
  public static Optional<ResizeAnswer> of(HasMetadata object) {
    return Annotations.value(object, Driver.RESIZE_ANSWER_ANNOTATION).flatMap(ResizeAnswer::parse);
  }

  private static Optional<ResizeAnswer> parse(String text) {
    int end = text.indexOf(SEPARATOR);
    if (end < 0) {
      return Optional.empty();
    }
    String words = text.substring(end + SEPARATOR.length());
    return words.equals(GRANTED) || words.startsWith(WAITS) || words.startsWith(REFUSED)
        ? Optional.of(new ResizeAnswer(text.substring(0, end), words))
        : Optional.empty();
  }

  /** Whether it answers who asks for that. */
  public boolean isTo(String text) {
    return asked.equals(new ResizeAnswer(text, words).asked);
  }

  /** The size that was asked for; empty if it is not understood. */
  public Optional<SizeRequest> size() {
    try {
      return Optional.of(SizeRequest.parse(asked));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // the words say why
    }
  }

  /** As the annotation has it. */
  @Override
  public String toString() {
    return asked + SEPARATOR + words;
  }
}
