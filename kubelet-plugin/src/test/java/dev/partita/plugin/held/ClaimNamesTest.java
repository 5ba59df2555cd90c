package dev.partita.plugin.held;

import static dev.partita.plugin.grant.Grants.instance;
import static dev.partita.plugin.grant.Grants.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.plugin.checkpoint.DriverNotes;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimNamesTest {
  private static final ClaimRef CLAIM = new ClaimRef("team-a", "train", "uid-1");

  @TempDir Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private CdiFolder cdi;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ShareFolders folders;

  @SuppressWarnings("NullAway.Init") // set before every test
  private DriverNotes notes;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ClaimNames names;

  @BeforeEach
  void open() {
    cdi = new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim");
    folders = new ShareFolders(root.resolve("state"), root.resolve("run"), new UsageRegions());
    notes = new DriverNotes(root.resolve("driver-notes"));
    names = new ClaimNames(cdi, folders, notes);
  }

  @Test
  void theSpecNamesTheClaim() throws IOException {
    writeSpec(CLAIM.qualifiedName());
    assertThat(names.of("uid-1")).contains(CLAIM);
  }

  @Test
  void aQuotaNamesItWhenTheSpecIsGoneOrCannotBeRead() throws IOException {
    writeQuota();
    assertThat(names.of("uid-1")).contains(CLAIM);
    writeSpec(CLAIM.qualifiedName());
    Files.writeString(cdi.fileOf("uid-1"), "{");
    assertThat(names.of("uid-1")).contains(CLAIM);
  }

  @Test
  void whatWasNotedOfTheDriverNamesItWhenAllElseIsGone() throws IOException {
    notes.write(new PreparedClaim(CLAIM, PreparedClaim.Phase.STARTED, "boot", List.of(instance("r", 0, 4, 2)), Map.of(),
        false));
    assertThat(names.of("uid-1")).contains(CLAIM);
    writeSpec(CLAIM.qualifiedName());
    Files.writeString(cdi.fileOf("uid-1"), "{");
    assertThat(names.of("uid-1")).as("beside a spec that cannot be read").contains(CLAIM);
  }

  @Test
  void filesThatCannotBeUnderstoodAreNoProofThatThereIsNoClaim() throws IOException {
    writeSpec("train");
    assertThatThrownBy(() -> names.of("uid-1")).isInstanceOf(IOException.class).hasMessageContaining("\"train\"");
    Files.writeString(cdi.fileOf("uid-1"), "{");
    assertThatThrownBy(() -> names.of("uid-1")).isInstanceOf(IOException.class);
  }

  @Test
  void aClaimWithoutSpecAndQuotaHasNoName() throws IOException {
    assertThat(names.of("uid-1")).isEmpty();
    Files.createDirectories(folders.usageFile("uid-1", "k"));
    assertThat(names.of("uid-1")).isEmpty();
  }

  private void writeSpec(String name) throws IOException {
    cdi.write(
        "uid-1",
        CdiSpec.of(
            CdiName.KIND,
            Map.of(CdiName.CLAIM_ANNOTATION, name),
            List.of(new CdiDevice("uid-1-k", ContainerEdits.of(List.of("A=b"), List.of(), List.of()))),
            ContainerEdits.NONE));
  }

  private void writeQuota() throws IOException {
    Grant grant = share("r", 0, "k", 8, 25);
    folders.write(CLAIM, grant, grant.share().orElseThrow());
  }
}
