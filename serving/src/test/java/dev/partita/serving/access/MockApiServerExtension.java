package dev.partita.serving.access;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/** Starts and ends what {@link MockApiServer} promises. */
public final class MockApiServerExtension implements BeforeEachCallback, AfterEachCallback {
  private static final Namespace STORE = Namespace.create(MockApiServerExtension.class);

  private record Running(KubernetesMockServer server, KubernetesClient client) {
    static Running start(boolean crud) {
      Map<ServerRequest, Queue<ServerResponse>> answers = new HashMap<>();
      Context context = new Context();
      // Without TLS: for that each would make an RSA key, which takes longer than most tests.
      KubernetesMockServer server =
          crud
              ? new KubernetesMockServer(context, new MockWebServer(), answers, new KubernetesMixedDispatcher(answers),
                  false)
              : new KubernetesMockServer(context, new MockWebServer(), answers, false);
      server.init();
      // As our clients are: else one asks for 20 s where a server answers with an error.
      return new Running(server,
          server.createClient(builder -> builder.editOrNewConfig().withRequestRetryBackoffLimit(0).endConfig()));
    }
  }

  /** Ends a server, after all of its clients. */
  public static void end(KubernetesMockServer server) {
    try {
      server.destroy();
    } catch (IllegalStateException e) {
      Logger.getLogger(MockApiServerExtension.class.getName()).log(Level.WARNING,
          "the mock server did not end in the time that it gives itself", e);
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws IllegalAccessException {
    Class<?> test = context.getRequiredTestClass();
    Running running =
        Running.start(AnnotationSupport.findAnnotation(test, MockApiServer.class).orElseThrow().crud());
    context.getStore(STORE).put(Running.class, running);
    set(context, KubernetesMockServer.class, running.server());
    set(context, KubernetesClient.class, running.client());
  }

  private static <T> void set(ExtensionContext context, Class<T> type, T value) throws IllegalAccessException {
    for (Field field : ReflectionSupport.findFields(context.getRequiredTestClass(), field -> field.getType() == type,
        HierarchyTraversalMode.TOP_DOWN)) {
      field.setAccessible(true);
      field.set(context.getRequiredTestInstance(), value);
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Running running = Objects.requireNonNull(context.getStore(STORE).remove(Running.class, Running.class));
    running.client().close();
    end(running.server());
  }
}
