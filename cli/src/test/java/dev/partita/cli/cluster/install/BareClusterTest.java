package dev.partita.cli.cluster.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.PaperCluster;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BareClusterTest {
  private static final String NOWHERE = "http://127.0.0.1:1";

  private static KubernetesClientBuilder to(String server) {
    return new KubernetesClientBuilder()
        .withConfig(new ConfigBuilder().withMasterUrl(server).withRequestRetryBackoffLimit(0).build());
  }

  @Test
  void aClusterThatWasJustMadeIsAskedUntilItAnswers(@TempDir Path folder) throws IOException {
    AtomicInteger requests = new AtomicInteger();
    Interceptor startsSlowly = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        if (requests.getAndIncrement() < 2) {
          builder.uri(URI.create(NOWHERE));
        }
      }
    };
    try (PaperCluster cluster = new PaperCluster(folder);
        KubernetesClient client = to(cluster.client().getMasterUrl().toString())
            .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", startsSlowly)).build()) {
      assertThatThrownBy(() -> BareCluster.await(client, 60)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("Partita is already installed");
      assertThat(requests).hasValue(3);
    }
  }

  @Test
  void aClusterThatNeverAnswersIsNoWrongCommandLine() throws IOException {
    try (KubernetesClient client = to(NOWHERE).build()) {
      assertThatThrownBy(() -> BareCluster.await(client, 1))
          .isInstanceOfSatisfying(CommandFailure.class, failure -> assertThat(failure.exitStatus()).isEqualTo(1))
          .hasMessageContaining("waited 1 s for the API server to answer: ");
      assertThatThrownBy(() -> BareCluster.require(client, "/home/a/.kube/config"))
          .isInstanceOfSatisfying(CommandFailure.class, failure -> assertThat(failure.exitStatus()).isEqualTo(2))
          .hasMessageContaining(
              "the cluster of /home/a/.kube/config cannot be used: no API server answers at " + NOWHERE + ": ");
    }
  }

  @Test
  void aClusterWithoutPartitaIsTaken(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      cluster.client().apiextensions().v1().customResourceDefinitions().delete();
      assertThatCode(() -> BareCluster.require(cluster.client(), "here")).doesNotThrowAnyException();
      assertThatCode(() -> BareCluster.await(cluster.client(), 1)).doesNotThrowAnyException();
    }
  }
}
