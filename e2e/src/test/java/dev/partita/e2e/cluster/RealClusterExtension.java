package dev.partita.e2e.cluster;

import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.testcontainers.DockerClientFactory;

/** One cluster for all tests, brought up by the first that needs it and taken down after the last. */
final class RealClusterExtension implements ExecutionCondition, ParameterResolver, AfterEachCallback {
  private static final Namespace STORE = Namespace.create(RealClusterExtension.class);
  private static final Provision PROVISION =
      Provision.decide(
          System.getenv(),
          () -> DockerClientFactory.instance().isDockerAvailable(),
          "root".equals(System.getProperty("user.name")));

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return PROVISION instanceof Provision.Nothing(String why)
        ? ConditionEvaluationResult.disabled(why)
        : ConditionEvaluationResult.enabled("there is a cluster");
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == RealCluster.class || type == Workspace.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    RealCluster cluster = cluster(context);
    if (parameter.getParameter().getType() == RealCluster.class) {
      return cluster;
    }
    return context.getStore(STORE).computeIfAbsent(Workspace.class, type -> Workspace.in(cluster), Workspace.class);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Workspace workspace = context.getStore(STORE).remove(Workspace.class, Workspace.class);
    if (workspace != null) {
      context.getExecutionException()
          .ifPresent(failure -> Diagnosis.write(cluster(context), workspace, context.getDisplayName(), failure));
      workspace.close();
    }
  }

  private static RealCluster cluster(ExtensionContext context) {
    Started started =
        context.getRoot().getStore(STORE).computeIfAbsent(Started.class, type -> Started.now(), Started.class);
    return started.cluster();
  }

  /** The cluster, or why it could not be brought up: tried once, not by every test. */
  private record Started(
      @org.jspecify.annotations.Nullable RealCluster up,
      @org.jspecify.annotations.Nullable RuntimeException failure)
      implements AutoCloseable {
    static Started now() {
      try {
        return new Started(RealCluster.from(PROVISION), null);
      } catch (RuntimeException failure) {
        return new Started(null, failure);
      }
    }

    RealCluster cluster() {
      if (up == null) {
        String message = String.valueOf(failure == null ? null : failure.getMessage()).strip();
        throw new CompletionException(
            "there is no cluster to test on: " + message.substring(message.lastIndexOf('\n') + 1), failure);
      }
      return up;
    }

    @Override
    public void close() {
      if (up != null) {
        up.close();
      }
    }
  }
}
