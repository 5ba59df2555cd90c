package dev.partita.controller.edge;

import dev.partita.controller.lru.LruMap;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.util.Map;

/**
 * Has a circuit breaker for the writes of one kind to each namespace, and one for those to objects of no namespace. A
 * namespace's own webhook or quota can make all writes there fail, and the server answers everybody else meanwhile.
 * When the server itself fails, each namespace pauses after its own ten failures. For any thread.
 */
final class Breakers {
  /** What is remembered of the namespace that was written to longest ago is forgotten beyond that. */
  private static final int MOST = 1000;

  private final String kind;
  private final CircuitBreaker ofCluster;
  private final Map<String, CircuitBreaker> ofNamespaces = new LruMap<>(MOST);

  /** @param kind names them */
  Breakers(String kind) {
    this.kind = kind;
    this.ofCluster = breaker(kind);
  }

  CircuitBreaker ofCluster() {
    return ofCluster;
  }

  synchronized CircuitBreaker ofNamespace(String namespace) {
    return ofNamespaces.computeIfAbsent(namespace, name -> breaker(kind + "/" + name));
  }

  private static CircuitBreaker breaker(String name) {
    return CircuitBreaker.of(
        name,
        CircuitBreakerConfig.custom()
            .slidingWindowSize(20)
            .minimumNumberOfCalls(10)
            .failureRateThreshold(60)
            .waitDurationInOpenState(ApiEdge.PAUSE)
            .recordException(ApiEdge::isTransient)
            .build());
  }
}
