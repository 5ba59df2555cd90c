package dev.partita.plugin.usage.measure;

import static dev.partita.plugin.grant.Grants.admin;
import static dev.partita.plugin.grant.Grants.instance;
import static dev.partita.plugin.grant.Grants.share;
import static dev.partita.plugin.grant.Grants.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimUsersTest {
  private static final String POD = "11111111-2222-3333-4444-555555555555";
  private static final String OTHER_POD = "66666666-2222-3333-4444-555555555555";

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private final Cards cards = new Cards();

  @BeforeEach
  void seeAll() throws IOException {
    Files.createDirectories(root.resolve("proc/self/ns"));
    Files.createSymbolicLink(root.resolve("proc/self/ns/pid"), Path.of("pid:[4026531836]"));
    process(1, "/init.scope");
  }

  @Test
  void whatNobodyUsesCanBeTakenBack() throws IOException {
    cards.users.add(new CardUser(1, OptionalInt.empty())); // the node's own, such as a display
    process(7, "/kubepods/pod" + OTHER_POD + "/c1");
    assertThat(use(whole("a", 0), share("b", 1, "k", 8, 0), instance("c", 2, 4, 2))).isEmpty();
  }

  @Test
  void aProcessOfOneOfItsPodsUsesItWhateverNvmlShows() throws IOException {
    process(7, "/kubepods/burstable/pod" + POD + "/c1");
    for (Grant grant : List.of(whole("a", 0), share("b", 1, "k", 8, 0), instance("c", 2, 4, 2), admin("d", 3))) {
      assertThat(use(grant)).contains("process 7 of its pod " + POD + " runs");
    }
  }

  @Test
  void aProcessOfAPodThatNobodyRemembersUsesTheCardThatItIsOn() throws IOException {
    process(7, "/kubepods.slice/kubepods-pod" + OTHER_POD.replace('-', '_') + ".slice/cri-1.scope");
    cards.users.add(new CardUser(7, OptionalInt.empty()));
    assertThat(use(whole("a", 0))).contains("process 7 of pod " + OTHER_POD + " uses gpu-0");
    assertThat(use(admin("a", 0))).as("what is only looked at keeps nobody off").isEmpty();
  }

  @Test
  void ofACutCardOnlyTheInstancesOwnProcessesUseIt() throws IOException {
    process(7, "/kubepods/pod" + OTHER_POD + "/c1");
    cards.instances.add(new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of()));
    cards.users.add(new CardUser(7, OptionalInt.of(3)));
    assertThat(use(instance("c", 2, 4, 2))).as("on another instance").isEmpty();
    cards.users.add(new CardUser(7, OptionalInt.of(5)));
    assertThat(use(instance("c", 2, 4, 2))).contains("process 7 of pod " + OTHER_POD + " uses gpu-2-mig-2g-4");
    cards.users.set(1, new CardUser(7, OptionalInt.empty()));
    assertThat(use(instance("c", 2, 4, 2))).as("an old driver does not say which instance").isPresent();
  }

  @Test
  void aCardOfWhichNvmlSaysNothingIsUsedUnlessTheDriverIsGone() throws IOException {
    cards.failure = NvmlException.GPU_IS_LOST;
    assertThat(use(whole("a", 0)).orElseThrow()).startsWith("NVML does not say who uses gpu-0");
    assertThat(use(share("b", 1, "k", 8, 0))).as("its region tells").isEmpty();
    cards.failure = NvmlException.DRIVER_NOT_LOADED;
    assertThat(use(whole("a", 0))).isEmpty();
  }

  @Test
  void aCardOnWhichTheNodesProcessesCannotBeSeenIsUsed() throws IOException {
    Files.delete(root.resolve("proc/self/ns/pid"));
    Files.createSymbolicLink(root.resolve("proc/self/ns/pid"), Path.of("pid:[4026532000]"));
    assertThat(use(whole("a", 0))).hasValueSatisfying(why -> assertThat(why).contains("gpu-0", "hostPID"));
    assertThat(use(instance("c", 2, 4, 2))).isPresent();
    assertThat(use(share("b", 1, "k", 8, 0))).isEmpty();
  }

  private Optional<String> use(Grant... grants) throws IOException {
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    HostProcesses host = new HostProcesses(root.resolve("proc"));
    return new ClaimUsers(folders, cards, host).of("uid-1", List.of(grants), Set.of(POD));
  }

  private void process(long pid, String cgroup) throws IOException {
    Path folder = Files.createDirectories(root.resolve("proc/" + pid));
    Files.writeString(folder.resolve("cgroup"), "0::" + cgroup + "\n");
    Files.writeString(folder.resolve("mountinfo"), "");
  }

  /** Cards that all say the same. */
  private static final class Cards implements MigControl {
    final List<CardUser> users = new ArrayList<>();
    final List<GpuInstance> instances = new ArrayList<>();
    int failure;

    @Override
    public MigState mig(String card) throws NvmlException {
      answer();
      return new MigState(true, instances);
    }

    @Override
    public List<CardUser> users(String card) throws NvmlException {
      answer();
      return List.copyOf(users);
    }

    private void answer() throws NvmlException {
      if (failure != 0) {
        throw new NvmlException("nvmlDeviceGetHandleByUUID", failure, "no");
      }
    }

    @Override
    public void switchMig(String card, boolean on) {
      throw new AssertionError("nobody asked for that");
    }

    @Override
    public void makeInstance(String card, String profile, int start) {
      throw new AssertionError("nobody asked for that");
    }

    @Override
    public void endInstance(String card, int gpuInstance) {
      throw new AssertionError("nobody asked for that");
    }
  }
}
