package dev.partita.admission.webhook;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * What to do about a pod that is about to be made.
 *
 * @param patch an RFC 6902 array; empty if the pod stays as it is
 * @param warnings for who makes it, within what the API server passes on: 256 characters each, 4096 together, no
 *        control characters
 */
public record PodAnswer(JsonNode patch, List<String> warnings) {
  public PodAnswer {
    warnings = List.copyOf(warnings);
  }
}
