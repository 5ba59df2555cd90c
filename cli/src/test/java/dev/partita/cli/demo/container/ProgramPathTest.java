package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramPathTest {
  @TempDir private Path folder;

  @Test
  void rootsFoldersAreLookedIntoAfterThoseOfThePath() {
    assertThat(ProgramPath.of("/usr/local/bin:/usr/bin:bin::/usr/bin").text())
        .isEqualTo("/usr/local/bin:/usr/bin:/usr/sbin:/sbin");
    assertThat(ProgramPath.of("/sbin:/bin").text()).isEqualTo("/sbin:/bin:/usr/sbin");
    assertThat(ProgramPath.of("").text()).isEqualTo("/usr/sbin:/sbin");
  }

  @Test
  void whatIsMissingIsNamedWithWhereItWasLookedFor() throws Exception {
    Path program = Files.createFile(folder.resolve("mount"));
    assertThat(program.toFile().setExecutable(true)).isTrue();
    Files.createFile(folder.resolve("chroot")); // not executable
    ProgramPath path = new ProgramPath(List.of(Path.of("/nowhere"), folder));

    assertThat(path.missing("mount")).isEmpty();
    assertThat(path.missing("mount", "chroot")).hasValue("chroot is missing in /nowhere:" + folder);
    assertThat(path.missing("unshare", "chroot")).hasValue("unshare, chroot are missing in /nowhere:" + folder);
  }
}
