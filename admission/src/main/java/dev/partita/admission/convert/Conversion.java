package dev.partita.admission.convert;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.List;

/** What became of one pod or pod template. */
public sealed interface Conversion {
  /** It asks for no GPU in a way of another system. */
  record NothingAsked() implements Conversion {}

  /**
   * It asks in a way that is not understood, or contradicts itself: it stays exactly as it is.
   *
   * @param problems all of them, with field paths; never empty
   */
  record Refused(List<FieldError> problems) implements Conversion {
    public Refused {
      problems = List.copyOf(problems);
      if (problems.isEmpty()) {
        throw new IllegalArgumentException("what is refused is refused for a reason");
      }
    }
  }

  /**
   * It asks by claims now.
   *
   * @param pod a changed copy of what was given
   * @param templates that it refers to, each once
   * @param notes what was converted and still wants attention
   */
  record Converted(ObjectNode pod, List<ClaimTemplate> templates, List<FieldError> notes) implements Conversion {
    public Converted {
      templates = List.copyOf(templates);
      notes = List.copyOf(notes);
    }
  }
}
