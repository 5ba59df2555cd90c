package dev.partita.plugin.step;

import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.Share;
import java.util.ArrayList;
import java.util.List;

/** One effect on the node. Each can be done again, and each may be the last one before a crash. */
public sealed interface Step {
  /** Write the claim's checkpoint record. */
  record WriteRecord(PreparedClaim claim) implements Step {}

  /** Refuse to go on if a MIG instance is where the claim's is to be that was not made for a claim. */
  record RequireFreePlace(Grant grant, MigInstance instance) implements Step {}

  /** Make a MIG instance of the claim, if it is not there. */
  record MakeInstance(Grant grant, MigInstance instance) implements Step {}

  /** Bring a card into a state in which it can be used as a whole or shared. */
  record ClearInstances(Grant grant) implements Step {}

  /** Set the time slice of a card that is had in turn. The claim's record tells what it asks for. */
  record SetTimeSlice(Grant grant) implements Step {}

  /** Set the time slices of the cards that the claim's record tells of to what the other claims ask for. */
  record RestoreTimeSlices(String uid) implements Step {}

  /** Have the MPS daemon of a card run. */
  record ProvideMps(Grant grant) implements Step {}

  /** End the MPS daemons of the cards that the claim's record tells of and that no other claim has by MPS. */
  record EndMps(String uid) implements Step {}

  /** End the MIG instances that the claim's record says were made for it. */
  record EndInstances(String uid) implements Step {}

  /** Have the driver, where it can, hold the claim's pods to the memory of their shares. */
  record LimitMemory(PreparedClaim claim) implements Step {}

  /** Write a share's quota and make its usage region. */
  record WriteShare(ClaimRef claim, Grant grant, Share share) implements Step {}

  /** Write the device metadata of the claim's requests. */
  record WriteMetadata(PreparedClaim claim) implements Step {}

  /** Write the claim's CDI spec. */
  record WriteSpec(PreparedClaim claim) implements Step {}

  /** Remove the claim's CDI spec. */
  record RemoveSpec(String uid) implements Step {}

  /** Remove the claim's device metadata. */
  record RemoveMetadata(String uid) implements Step {}

  /** Remove the claim's shares. */
  record RemoveShares(String uid) implements Step {}

  /** Remove the claim's checkpoint record. */
  record RemoveRecord(String uid) implements Step {}

  /** Carries out steps. */
  interface Executor {
    /** Returns when the effect would survive the end of this program, and a completed or removed record a power cut. */
    void execute(Step step) throws java.io.IOException;
  }

  /** Begins to prepare a claim: the record goes ahead. */
  static List<Step> begin(PreparedClaim claim) {
    List<Step> steps = beginRecord(claim, Phase.STARTED);
    steps.addAll(files(claim));
    return steps;
  }

  /**
   * The same for a claim whose containers may run: what its record says at any moment is that they may. Its files, of
   * which the record may be ahead then, are written anew where one is missing.
   */
  static List<Step> beginAgain(PreparedClaim claim) {
    List<Step> steps = beginRecord(claim, Phase.COMPLETED);
    steps.addAll(files(claim));
    return steps;
  }

  /** As {@link #begin}, but no further than to the MIG instances that are made for it. */
  static List<Step> beginInstances(PreparedClaim claim) {
    List<Step> steps = beginRecord(claim, Phase.STARTED);
    for (Grant grant : claim.grants()) {
      grant.use().made().ifPresent(instance -> steps.add(new MakeInstance(grant, instance)));
    }
    return steps;
  }

  private static List<Step> beginRecord(PreparedClaim claim, Phase phase) {
    List<Step> steps = new ArrayList<>();
    for (Grant grant : claim.grants()) { // before the record, which says that what is there is the claim's
      grant.use().made().ifPresent(instance -> steps.add(new RequireFreePlace(grant, instance)));
    }
    steps.add(new WriteRecord(claim.in(phase)));
    return steps;
  }

  /** Completes the record of a claim when everything else is there. */
  static List<Step> complete(PreparedClaim claim) {
    return List.of(new WriteRecord(claim.in(Phase.COMPLETED)));
  }

  /**
   * Makes the files of a claim, also of one that is prepared anew: a reboot takes the CDI folder's and the usage
   * regions with it.
   */
  static List<Step> files(PreparedClaim claim) {
    List<Step> steps = new ArrayList<>();
    for (Grant grant : claim.grants()) {
      grant.use().made().ifPresent(instance -> steps.add(new MakeInstance(grant, instance)));
      if (grant.use().needsUncutCard()) {
        steps.add(new ClearInstances(grant));
      }
      if (grant.use().timeSlicing().isPresent()) {
        steps.add(new SetTimeSlice(grant));
      }
      if (grant.use().mps().isPresent()) {
        steps.add(new ProvideMps(grant));
      }
    }
    steps.addAll(sizes(claim));
    return steps;
  }

  /** Writes how large the shares of a claim are, and what its containers are told of that. */
  static List<Step> sizes(PreparedClaim claim) {
    List<Step> steps = new ArrayList<>();
    if (claim.grants().stream().anyMatch(grant -> grant.share().isPresent())) {
      steps.add(new LimitMemory(claim)); // first: what the quota grants, the driver must allow
    }
    for (Grant grant : claim.grants()) {
      grant.share().ifPresent(share -> steps.add(new WriteShare(claim.claim(), grant, share)));
    }
    if (!claim.grants().isEmpty()) {
      if (claim.names().isPresent()) {
        steps.add(new WriteMetadata(claim)); // before the spec, which mounts it
      }
      steps.add(new WriteSpec(claim));
    }
    return steps;
  }

  /** Removes a claim's files. */
  static List<Step> releaseFiles(String uid) {
    return List.of(new RemoveSpec(uid), new RemoveMetadata(uid), new RemoveShares(uid), new EndInstances(uid),
        new RestoreTimeSlices(uid), new EndMps(uid));
  }

  /** Removes the record, last, so that a crash in between is seen. */
  static List<Step> forget(String uid) {
    return List.of(new RemoveRecord(uid));
  }

  /** Removes all that a preparation which failed on its way may have left. */
  static List<Step> undo(String uid) {
    List<Step> steps = new ArrayList<>(releaseFiles(uid));
    steps.addAll(forget(uid));
    return steps;
  }
}
