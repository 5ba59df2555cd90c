package dev.partita.plugin.store;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.share.ShareFolders;

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
    OperationLock lock) {}
