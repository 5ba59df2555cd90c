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
import java.util.function.Function;
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
   * Refuses files by which no cluster can be asked.
   *
   * @param files that are merged: of what has the same name in several, that of the first counts
   * @param context the one that was asked for; empty for the current one
   * @return the program that gives the user's credentials; empty if the files name none
   * @throws CommandFailure if no cluster can be asked by these files
   */
  static Optional<String> check(List<Path> files, Optional<String> context) {
    if (files.stream().noneMatch(Files::exists)) {
      throw CommandFailure.usage("there is no kubeconfig at "
          + files.stream().map(Path::toString).collect(Collectors.joining(" or ")) + ANOTHER);
    }
    List<Config> configs = files.stream().map(file -> parsed(file, read(file))).toList();
    List<NamedContext> contexts = all(configs, Config::getContexts);
    String at = files.stream().map(Path::toString).collect(Collectors.joining(" and "));
    String name = context.orElseGet(() -> configs.stream().flatMap(each -> Stream.ofNullable(each.getCurrentContext()))
        .filter(current -> !current.isEmpty()).findFirst().orElse(""));
    if (name.isEmpty()) {
      throw refused(at, contexts.isEmpty()
          ? "names no cluster" + ANOTHER
          : "has no current context: name one by --context; it has " + names(contexts));
    }
    NamedContext chosen = contexts.stream().filter(each -> name.equals(each.getName())).findFirst()
        .orElseThrow(() -> CommandFailure.usage("there is no context '" + name + "' in the kubeconfig"
            + (contexts.isEmpty() ? " at " + at : "; it has " + names(contexts))));
    @Nullable String cluster = chosen.getContext() == null ? null : chosen.getContext().getCluster();
    if (all(configs, Config::getClusters).stream().noneMatch(each -> isAt(each, cluster))) {
      throw refused(at, "has no server for the cluster '" + Objects.requireNonNullElse(cluster, "") + "' of context '"
          + name + "'" + ANOTHER);
    }
    return all(configs, Config::getUsers).stream()
        .filter(each -> Objects.equals(each.getName(), chosen.getContext().getUser()) && each.getUser() != null)
        .flatMap(each -> Stream.ofNullable(each.getUser().getExec())).map(ExecConfig::getCommand)
        .filter(Objects::nonNull).findFirst();
  }

  private static boolean isAt(NamedCluster each, @Nullable String name) {
    return Objects.equals(each.getName(), name) && each.getCluster() != null && each.getCluster().getServer() != null
        && !each.getCluster().getServer().isBlank();
  }

  private static String read(Path file) {
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

  private static CommandFailure refused(Object at, String why) {
    return CommandFailure.usage("the kubeconfig at " + at + " " + why);
  }

  private static String names(List<NamedContext> contexts) {
    return contexts.stream().map(NamedContext::getName).collect(Collectors.joining(", "));
  }

  private static <T> List<T> all(List<Config> configs, Function<Config, @Nullable List<T>> list) {
    return configs.stream().flatMap(config -> Stream.ofNullable(list.apply(config))).flatMap(List::stream).toList();
  }
}
