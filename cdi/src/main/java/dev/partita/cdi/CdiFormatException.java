package dev.partita.cdi;

import java.io.IOException;
import java.util.List;

/** A document that is not a valid CDI spec. */
public final class CdiFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public CdiFormatException(String source, List<String> problems) {
    super(source + " is not a valid CDI spec: " + String.join("; ", problems));
  }
}
