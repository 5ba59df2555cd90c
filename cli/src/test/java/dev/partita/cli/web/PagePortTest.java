package dev.partita.cli.web;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.RefusingServer;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class PagePortTest {
  @Test
  void whoMayNotForwardAPortIsNotToldThatThereIsNoPage() throws IOException {
    try (RefusingServer server = new RefusingServer();
        PagePort page = new PagePort(server.client(), "partita-system")) {
      assertThatThrownBy(() -> page.open(0)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("you may not create pods/portforward").hasMessageNotContaining("web.enabled");
    }
  }
}
