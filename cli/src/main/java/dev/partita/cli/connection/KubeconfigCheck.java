package dev.partita.cli.connection;

import com.fasterxml.jackson.databind.JsonMappingException;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import io.fabric8.kubernetes.api.model.Config;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says what is wrong with a kubeconfig. The client says it in words about its own code, or asks an API server on this
 * machine where the file names none.
 */
final class KubeconfigCheck {
  private static final String ANOTHER =
      "; name another by --kubeconfig or KUBECONFIG ('partita cluster env' prints that of a cluster of 'cluster up')";

  private KubeconfigCheck() {}

  /**
   * Refuses a file by which no cluster can be asked.
   *
   * @param context the one that was asked for; empty for the current one
   * @return the program that gives the user's credentials; empty if the file names none
   * @throws CommandFailure if no cluster can be asked by this file
   */
  static Optional<String> check(Path file, Optional<String> context) {
    Config config = parsed(file, read(file));
    List<NamedContext> contexts = orNone(config.getContexts());
    String name = context.orElse(Objects.requireNonNullElse(config.getCurrentContext(), ""));
    if (name.isEmpty()) {
      throw refused(file, contexts.isEmpty()
          ? "names no cluster" + ANOTHER
          : "has no current context: name one by --context; it has " + names(contexts));
    }
    NamedContext chosen = contexts.stream().filter(each -> name.equals(each.getName())).findFirst()
        .orElseThrow(() -> CommandFailure.usage("there is no context '" + name + "' in the kubeconfig"
            + (contexts.isEmpty() ? " at " + file : "; it has " + names(contexts))));
    @Nullable String cluster = chosen.getContext() == null ? null : chosen.getContext().getCluster();
    if (orNone(config.getClusters()).stream().noneMatch(each -> isAt(each, cluster))) {
      throw refused(file, "has no server for the cluster '" + Objects.requireNonNullElse(cluster, "") + "' of context '"
          + name + "'" + ANOTHER);
    }
    return orNone(config.getUsers()).stream()
        .filter(each -> Objects.equals(each.getName(), chosen.getContext().getUser()) && each.getUser() != null)
        .flatMap(each -> Stream.ofNullable(each.getUser().getExec())).map(ExecConfig::getCommand)
        .filter(Objects::nonNull).findFirst();
  }

  /**
   * @param files with colons between them; kubectl merges those that are there
   * @throws CommandFailure if none is
   */
  static void checkSomeIsThere(String files) {
    if (Stream.of(files.split(":", -1)).filter(name -> !name.isEmpty())
        .noneMatch(name -> Files.exists(Path.of(name)))) {
      throw CommandFailure.usage("there is no kubeconfig at " + files.replace(":", " or ") + ANOTHER);
    }
  }

  private static boolean isAt(NamedCluster each, @Nullable String name) {
    return Objects.equals(each.getName(), name) && each.getCluster() != null && each.getCluster().getServer() != null
        && !each.getCluster().getServer().isBlank();
  }

  private static String read(Path file) {
    if (!Files.exists(file)) {
      throw CommandFailure.usage("there is no kubeconfig at " + file + ANOTHER);
    }
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw refused(file, "cannot be read: " + FileProblem.why(e));
    }
  }

  private static Config parsed(Path file, String text) {
    KubernetesSerialization yaml = new KubernetesSerialization();
    try {
      @Nullable Object document = text.isBlank() ? null : yaml.unmarshal(text, Object.class);
      if (document == null) {
        throw refused(file, "is empty" + ANOTHER);
      }
      if (!(document instanceof Map<?, ?>)) {
        throw refused(file, "is none: it has neither clusters nor contexts" + ANOTHER);
      }
      return yaml.convertValue(document, Config.class);
    } catch (CommandFailure told) {
      throw told;
    } catch (RuntimeException e) {
      throw refused(file, field(e).map(path -> "is none: " + path + " is not what stands there in a kubeconfig")
          .orElseGet(() -> "cannot be read: " + ClusterAnswers.rootOf(e).lines().findFirst().orElse("")));
    }
  }

  /** Where a value of another kind than it must be stands. */
  private static Optional<String> field(RuntimeException e) {
    return e.getCause() instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()
        ? Optional.of(mapping.getPath().stream()
            .map(part -> part.getFieldName() == null ? "[" + part.getIndex() + "]" : part.getFieldName())
            .collect(Collectors.joining(".")))
        : Optional.empty();
  }

  private static CommandFailure refused(Path file, String why) {
    return CommandFailure.usage("the kubeconfig at " + file + " " + why);
  }

  private static String names(List<NamedContext> contexts) {
    return contexts.stream().map(NamedContext::getName).collect(Collectors.joining(", "));
  }

  private static <T> List<T> orNone(@Nullable List<T> list) {
    return Objects.requireNonNullElse(list, List.of());
  }
}
