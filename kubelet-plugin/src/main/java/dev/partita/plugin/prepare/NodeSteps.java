package dev.partita.plugin.prepare;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Carries out steps on this node's files.
 *
 * @param inventory where the driver's files are
 */
public record NodeSteps(
    Checkpoint checkpoint,
    HookLibraries libraries,
    ShareFolders folders,
    ClaimSpec specs,
    CdiFolder cdi,
    Supplier<Inventory> inventory)
    implements Step.Executor {

  @Override
  public void execute(Step step) throws IOException {
    switch (step) {
      case Step.WriteRecord write -> checkpoint.write(write.claim());
      case Step.InstallLibraries ignored -> libraries.install();
      case Step.WriteShare write -> folders.write(write.claim(), write.grant(), write.share());
      case Step.WriteSpec write -> writeSpec(write.claim());
      case Step.RemoveSpec remove -> cdi.remove(remove.uid());
      case Step.RemoveShares remove -> folders.remove(remove.uid());
      case Step.RemoveRecord remove -> checkpoint.remove(remove.uid());
    }
  }

  private void writeSpec(PreparedClaim claim) throws IOException {
    switch (inventory.get()) {
      case Inventory.NoCards none -> throw new IOException(none.message());
      case Inventory.Cards cards -> {
        boolean shadows = claim.mixed() || claim.grants().stream().anyMatch(grant -> grant.share().isPresent());
        Optional<HookLibraries.Installed> installed = shadows ? Optional.of(libraries.install()) : Optional.empty();
        cdi.write(claim.claim().uid(), specs.of(claim, cards.files(), installed));
      }
    }
  }
}
