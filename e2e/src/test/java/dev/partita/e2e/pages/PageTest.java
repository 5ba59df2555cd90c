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
        ```bash
        for a in b c; do
          seven $a
        done
        for a in b; do eight; done
        nine
        ```
        """);
    assertThat(page.steps()).hasSize(3);
    assertThat(page.steps().getFirst().where()).isEqualTo("a.md:2");
    assertThat(page.steps().getFirst().commands())
        .containsExactly("one \\\n  more", "two |\n  three", "keep='{a\n  b}'");
    assertThat(page.steps().getFirst().shown()).contains("out\n");
    assertThat(page.steps().get(1).commands()).containsExactly("four <<'END'\nfive\nEND", "six");
    assertThat(page.steps().get(1).shown()).isEmpty();
    assertThat(page.steps().getLast().commands())
        .containsExactly("for a in b c; do\n  seven $a\ndone", "for a in b; do eight; done", "nine");
  }
}
