package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.List;

/** What became of a claim that is to ask another driver. */
sealed interface ClaimResult {
  /** It asks no driver that is meant for a card. */
  record NothingAsked() implements ClaimResult {}

  /** It asks for what has no equal: it stays as it is. */
  record Refused(List<FieldError> problems) implements ClaimResult {}

  /**
   * It asks the other driver now.
   *
   * @param object a changed copy of what was given
   * @param notes what wants attention
   */
  record Converted(ObjectNode object, List<FieldError> notes) implements ClaimResult {}
}
