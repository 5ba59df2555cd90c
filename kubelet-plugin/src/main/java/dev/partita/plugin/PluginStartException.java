package dev.partita.plugin;

/** The plugin cannot start with these settings on this node; the message says what to change. */
public final class PluginStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public PluginStartException(String message) {
    super(message);
  }
}
