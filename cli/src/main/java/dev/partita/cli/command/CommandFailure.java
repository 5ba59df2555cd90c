package dev.partita.cli.command;

/** A command that could not do what it was asked for: the message is the one line that the user sees. */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitStatus;

  private CommandFailure(int exitStatus, String message) {
    super(message);
    this.exitStatus = exitStatus;
  }

  /** It was asked for in a way that cannot work here: the message says what to change. Exit status 2. */
  public static CommandFailure usage(String message) {
    return new CommandFailure(2, message);
  }

  /** It was tried and did not work: the message says what failed and where to look. Exit status 1. */
  public static CommandFailure failed(String message) {
    return new CommandFailure(1, message);
  }

  public int exitStatus() {
    return exitStatus;
  }
}
