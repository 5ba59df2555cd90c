package dev.partita.cdi;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.util.List;

/** A document that is not a valid CDI spec. */
public final class CdiFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public CdiFormatException(String source, List<String> problems) {
    super(message(source, String.join("; ", problems)));
  }

  CdiFormatException(String source, JsonProcessingException cause) {
    super(message(source, cause.getOriginalMessage()), cause);
  }

  private static String message(String source, String problems) {
    return source + " is not a valid CDI spec: " + problems;
  }
}
