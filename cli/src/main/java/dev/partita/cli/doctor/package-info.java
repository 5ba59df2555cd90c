/**
 * {@code partita doctor}: whether a cluster and its nodes have what Partita needs. {@code SnapshotReader} reads, with
 * the user's rights; the checks are functions from the snapshot to findings.
 */
@NullMarked
package dev.partita.cli.doctor;

import org.jspecify.annotations.NullMarked;
