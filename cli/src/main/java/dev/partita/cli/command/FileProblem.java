package dev.partita.cli.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.partita.api.JsonProblem;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Objects;

/** Why a file could not be read or written. What the JDK says is often the file's name and nothing else. */
public final class FileProblem {
  private FileProblem() {}

  /** A few words for the end of a message that names the file. */
  public static String why(IOException problem) {
    return switch (problem) {
      case NoSuchFileException _ -> "there is no such file or folder";
      case AccessDeniedException _ -> "permission denied";
      case NotDirectoryException _ -> "not a folder";
      case CharacterCodingException _ -> "it is not text in UTF-8";
      case JsonProcessingException syntax -> JsonProblem.words(syntax);
      case FileSystemException told when told.getReason() != null -> told.getReason();
      default -> Objects.requireNonNullElse(problem.getMessage(), problem.getClass().getSimpleName());
    };
  }
}
