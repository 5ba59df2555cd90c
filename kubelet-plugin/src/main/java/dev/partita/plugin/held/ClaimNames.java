package dev.partita.plugin.held;

import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.CdiSpec;
import dev.partita.plugin.checkpoint.DriverNotes;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the name of a claim whose record is missing, in the files that the claim has left. By its name the claim can be
 * read alone: a list of all claims of a cluster does not fit into the plugin's memory.
 */
public record ClaimNames(CdiFolder cdi, ShareFolders folders, DriverNotes notes) {
  /**
   * The claim of this UID: its CDI spec names it, and so does each of its quota files, and a note of what the driver
   * was told for it.
   *
   * @return empty if it has none of these, so that no container can be started with it
   * @throws IOException if there are such files, and none of them can be understood
   */
  public Optional<ClaimRef> of(String uid) throws IOException {
    Optional<String> name = Optional.empty();
    @Nullable IOException damaged = null;
    try {
      name = cdi.read(uid).map(CdiSpec::annotations).map(all -> all.getOrDefault(CdiName.CLAIM_ANNOTATION, ""));
    } catch (IOException e) {
      damaged = e;
    }
    if (name.isEmpty()) {
      name = folders.claimOf(uid);
    }
    if (name.isPresent()) {
      return Optional.of(claim(name.get(), uid));
    }
    Optional<ClaimRef> noted = notes.of(uid).map(DriverNotes.Note::claim);
    if (noted.isEmpty() && damaged != null) {
      throw damaged;
    }
    return noted;
  }

  private static ClaimRef claim(String name, String uid) throws IOException {
    int slash = name.indexOf('/');
    if (slash < 1 || slash == name.length() - 1) {
      throw new IOException("its files say that it is claim \"" + name + "\", which is no namespace/name");
    }
    return new ClaimRef(name.substring(0, slash), name.substring(slash + 1), uid);
  }
}
