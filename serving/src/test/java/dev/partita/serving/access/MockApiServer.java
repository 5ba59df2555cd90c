package dev.partita.serving.access;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Each test has an API server in this process, and a client of it, in the class's fields of the types
 * {@link KubernetesMockServer} and {@link KubernetesClient}. Like fabric8's own extension, but that on a busy machine
 * no test fails because its server has not ended in the time that it gives itself.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(MockApiServerExtension.class)
public @interface MockApiServer {
  /** Whether it keeps the objects that it is given; else it answers as the test says. */
  boolean crud() default false;
}
