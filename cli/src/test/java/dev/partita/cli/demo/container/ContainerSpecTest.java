package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Hook;
import dev.partita.cdi.Mount;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ContainerSpecTest {
  private static final ContainerSpec IMAGE = new ContainerSpec(Map.of("PATH", "/bin"), List.of(), List.of());

  @Test
  void aVariableReplacesOneOfTheSameName() {
    ContainerSpec spec = IMAGE.with(ContainerEdits.of(List.of("A=1", "PATH=/opt", "A=2=3"), List.of(), List.of()));

    assertThat(spec.env()).containsOnly(Map.entry("PATH", "/opt"), Map.entry("A", "2=3"));
  }

  @Test
  void aMountReplacesOneAtTheSamePathHoweverItIsWritten() {
    ContainerSpec spec =
        IMAGE
            .with(mounts(Mount.readOnly("/first", "/etc/thing"), Mount.readOnly("/other", "/etc/other")))
            .with(mounts(Mount.readWrite("/second", "/etc/./thing/")));

    assertThat(spec.mounts()).extracting(Mount::hostPath).containsExactlyInAnyOrder("/other", "/second");
  }

  @Test
  void mountsAreMadeFromTheRootDownwards() {
    ContainerSpec spec =
        IMAGE.with(mounts(Mount.readOnly("/c", "/a/b/c"), Mount.readOnly("/a", "/a"), Mount.readOnly("/x", "/a/x"),
            Mount.readOnly("/b", "/a/b")));

    assertThat(spec.mounts()).extracting(Mount::containerPath).containsExactly("/a", "/a/x", "/a/b", "/a/b/c");
  }

  @Test
  void aDeviceNodeReplacesOneAtTheSamePath() {
    ContainerSpec spec =
        IMAGE.with(ContainerEdits.of(List.of(),
            List.of(node("/dev/nvidia0", "/dev/zero"), node("/dev/nvidia0", "/dev/null")), List.of()));

    assertThat(spec.devices()).containsExactly(node("/dev/nvidia0", "/dev/null"));
  }

  @Test
  void hooksAreCalledInTheOrderOfTheEdits() {
    Hook first = hook("createContainer", "/usr/bin/first");
    Hook second = hook("createContainer", "/usr/bin/second");

    assertThat(IMAGE.with(hooks(first)).with(hooks(second, first)).hooks()).containsExactly(first, second, first);
  }

  @Test
  void hooksOfMomentsThatNothingHereHasAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> IMAGE.with(hooks(hook("startContainer", "/usr/bin/hook"))))
        .withMessageContaining("startContainer hook /usr/bin/hook");
  }

  private static Hook hook(String name, String path) {
    return new Hook(name, path, List.of(), List.of(), OptionalInt.empty());
  }

  private static ContainerEdits hooks(Hook... hooks) {
    return new ContainerEdits(List.of(), List.of(), List.of(), List.of(hooks), List.of());
  }

  private static ContainerEdits mounts(Mount... mounts) {
    return ContainerEdits.of(List.of(), List.of(), List.of(mounts));
  }

  private static DeviceNode node(String path, String hostPath) {
    return new DeviceNode(path, Optional.of(hostPath), "", 0, 0, OptionalInt.empty(), "", Optional.empty(),
        Optional.empty());
  }
}
