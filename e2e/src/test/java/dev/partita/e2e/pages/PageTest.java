package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PageTest {
  @Test
  void aPagesCommandsAreThereInOrderAndWhatItShowsOfEach() {
    Page page = Page.parsed("a.md", """
        Do this:
        ```bash
        one \\
          more
        two |
          three

        keep='{a
          b}'
        ```
        ```text
        out
        ```
        ```yaml
        kind: Pod
        ```
        ```text
        not of a command
        ```
           ```sh
           four <<'END'
           five
           END
           six
           ```
        """);
    assertThat(page.steps()).hasSize(2);
    assertThat(page.steps().getFirst().where()).isEqualTo("a.md:2");
    assertThat(page.steps().getFirst().commands())
        .containsExactly("one \\\n  more", "two |\n  three", "keep='{a\n  b}'");
    assertThat(page.steps().getFirst().shown()).contains("out\n");
    assertThat(page.steps().getLast().commands()).containsExactly("four <<'END'\nfive\nEND", "six");
    assertThat(page.steps().getLast().shown()).isEmpty();
  }
}
