package dev.partita.plugin.store;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

/**
 * Everything that the plugin keeps on the node for claims.
 *
 * @param checkpoint what was prepared: a record a claim
 * @param cdi what containers get: a CDI spec a claim
 * @param folders quota files and usage regions of their shares
 * @param metadata what its containers are told of its devices
 * @param pods whose containers a claim may be used by
 * @param lock under which any of it changes
 */
public record ClaimStore(
    Checkpoint checkpoint,
    CdiFolder cdi,
    ShareFolders folders,
    MetadataFolders metadata,
    ClaimPods pods,
    OperationLock lock) {
  /** UIDs of the claims that have a CDI spec, or a note of what the driver was told for them, if not a record. */
  public Set<String> withSpecOrNote() throws IOException {
    Set<String> uids = new TreeSet<>(checkpoint.notes().uids());
    cdi.ids().stream().filter(ClaimRef::isUid).forEach(uids::add); // other specs are of no claim
    return uids;
  }
}
