package dev.partita.controller.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.watch.ClusterObjects;
import java.lang.reflect.Proxy;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MeasuringTest {
  private final ClusterWithoutServer cluster = new ClusterWithoutServer();
  private final AtomicInteger looks = new AtomicInteger(); // at objects of the cluster
  private final ClusterObjects view = (ClusterObjects) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[]{ClusterObjects.class}, (self, method, arguments) -> {
        looks.incrementAndGet();
        return method.invoke(cluster, arguments);
      });
  private final Questions questions = new Questions(view, cluster.state, question -> new Answer.Unknown());

  @Test
  void nobodyMeasuresWhatWouldFitForWhoDoesNotWaitForItAnyMore() {
    cluster.nodes("a:1");
    CompletableFuture<SortedMap<String, Headroom>> givenUp = new CompletableFuture<>();
    assertThat(givenUp.cancel(true)).isTrue();
    questions.measure(givenUp);
    assertThat(looks).hasValue(0);
    CompletableFuture<SortedMap<String, Headroom>> wanted = new CompletableFuture<>();
    questions.measure(wanted);
    assertThat(wanted.join()).containsOnlyKeys("h200");
    assertThat(looks).hasPositiveValue();
  }
}
