package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Hook;
import dev.partita.cdi.Mount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class NamespaceRuntimeTest extends ContainerRuntimeContract {
  @Override
  ContainerRuntime runtime() throws Exception {
    NamespaceRuntime runtime = new NamespaceRuntime(temp.resolve("containers"));
    Optional<String> obstacle = runtime.obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "namespaces are not allowed here: " + obstacle.orElse(""));
    return runtime;
  }

  @Test
  void aPathWithoutRootsFoldersIsNoObstacle() throws Exception {
    runtime();

    assertThat(new NamespaceRuntime(temp.resolve("short"), ProgramPath.of("/usr/bin:/bin")).obstacle()).isEmpty();
  }

  @Test
  void aProgramThatIsNotThereIsNamedAsTheObstacle() throws Exception {
    ProgramPath nowhere = new ProgramPath(List.of(temp));

    assertThat(new NamespaceRuntime(temp.resolve("none"), nowhere).obstacle())
        .hasValue("unshare, mount, chroot are missing in " + temp);
  }

  @Test
  void aFolderIsMountedWhereTheHostHasNoneAndWhatIsReadOnlyCannotBeWritten() throws Exception {
    Path quota = Files.createDirectory(temp.resolve("quota"));
    Path usage = Files.createDirectory(temp.resolve("usage"));
    Files.writeString(quota.resolve("quota"), "memory 1\n");
    ContainerSpec spec =
        new ContainerSpec(
            ENV,
            List.of(),
            List.of(Mount.readOnly(quota.toString(), "/etc/partita-test/quota"),
                Mount.readWrite(usage.toString(), "/run/partita-test/usage")));

    Outcome outcome =
        runtime()
            .create("c", spec)
            .run(TIMEOUT, "sh", "-c",
                "cat /etc/partita-test/quota/quota; echo 2 > /run/partita-test/usage/file; echo 2 > /etc/partita-test/quota/quota");

    assertThat(outcome.status()).isNotZero();
    assertThat(outcome.lines()).startsWith("memory 1");
    assertThat(usage.resolve("file")).hasContent("2");
    assertThat(quota.resolve("quota")).hasContent("memory 1");
    assertThat(Path.of("/etc/partita-test")).doesNotExist();
  }

  @Test
  void theHostsOtherDevicesCannotBeSeen() throws Exception {
    DeviceNode node =
        new DeviceNode(
            "/dev/nvidia5", Optional.of("/dev/null"), "", 0, 0, OptionalInt.empty(), "", Optional.empty(),
            Optional.empty());

    Outcome outcome =
        runtime()
            .create("c", new ContainerSpec(ENV, List.of(node), List.of()))
            .run(TIMEOUT, "sh", "-c", "test -c /dev/nvidia5 && echo x > /dev/nvidia5 && ls /dev");

    assertThat(outcome.status()).isZero();
    assertThat(outcome.lines()).contains("nvidia5", "null").doesNotContain("mem", "kmsg", "vda", "sda", "nvidia0");
  }

  @Test
  void hooksSeeTheContainersMountsAndTellWhatTheContainerFinds() throws Exception {
    Path hook = program("hook",
        "echo nothing to see; cat > \"$1/state\"; echo \"$GREETING $2\" > \"$1/said\"; mount --bind \"$1/said\" \"$1/containers/c/etc/partita-test/file\"");
    Path file = Files.writeString(temp.resolve("file"), "mounted\n");
    ContainerSpec spec =
        new ContainerSpec(
            ENV,
            List.of(),
            List.of(Mount.readWrite(file.toString(), "/etc/partita-test/file")),
            List.of(
                new Hook("createContainer", hook.toString(), List.of("hook", temp.toString(), "it's me"),
                    List.of("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "GREETING=hello"), OptionalInt.of(20))));

    Outcome outcome = runtime().create("c", spec).run(TIMEOUT, "cat", "/etc/partita-test/file");

    assertThat(outcome.lines()).containsExactly("hello it's me");
    assertThat(temp.resolve("state")).content().contains("\"bundle\":\"" + temp.resolve("containers/c.bundle"),
        "\"status\":\"creating\"");
    assertThat(temp.resolve("containers/c.bundle/config.json")).content().contains("GREETING=hello",
        temp.resolve("containers/c").toString());
    assertThat(file).hasContent("mounted");
  }

  @Test
  void aContainerWhoseHookFailsDoesNotStart() throws Exception {
    Hook hook = new Hook("createContainer", program("hook", "echo no >&2; exit 7").toString(), List.of("hook"),
        List.of(), OptionalInt.empty());
    ContainerSpec spec = new ContainerSpec(ENV, List.of(), List.of(), List.of(hook));

    Outcome outcome = runtime().create("c", spec).run(TIMEOUT, "echo", "started");

    assertThat(outcome.status()).isEqualTo(7);
    assertThat(outcome.lines()).containsExactly("no");
  }

  private Path program(String name, String script) throws Exception {
    Path program = Files.writeString(temp.resolve(name), "#!/bin/sh\nset -e\n" + script + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  @Test
  void aContainerHasProcessesOfItsOwn() throws Exception {
    Outcome outcome =
        runtime().create("c", new ContainerSpec(ENV, List.of(), List.of())).run(TIMEOUT, "sh", "-c", "echo $$");

    assertThat(outcome.lines()).containsExactly("1");
  }
}
