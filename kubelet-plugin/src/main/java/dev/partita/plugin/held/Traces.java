package dev.partita.plugin.held;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.gpu.Gpu;
import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.DeviceNode;
import dev.partita.plugin.checkpoint.ForeignRecord;
import dev.partita.plugin.checkpoint.DriverNotes;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.InstanceShare;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.grant.WholeCard;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.share.QuotaFile.Limits;
import dev.partita.plugin.share.ShareFolders;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds out what a claim has of the cards from its files, where its record cannot be read. A quota file names a share
 * exactly. The CDI spec says which cards' device nodes containers get, and a note of which cards the driver was told
 * something: such a card counts as taken whole, since nobody knows how much of it is used. If no file names a card, all
 * cards count as taken.
 */
final class Traces {
  private static final Pattern CARD_NODE = Pattern.compile("/dev/nvidia([0-9]{1,5})");

  private final CdiFolder cdi;
  private final ShareFolders folders;
  private final DriverNotes notes;
  private final ClaimNames names;

  Traces(CdiFolder cdi, ShareFolders folders, DriverNotes notes) {
    this.cdi = cdi;
    this.folders = folders;
    this.notes = notes;
    this.names = new ClaimNames(cdi, folders, notes);
  }

  /**
   * What a claim has whose record another version of the plugin has written: its files may mean something else, too.
   */
  PreparedClaim of(ForeignRecord record, Inventory.Cards cards) throws IOException {
    Set<String> uuids = new TreeSet<>(record.cards());
    Optional<CdiSpec> spec = cdi.readIfValid(record.uid());
    if (uuids.isEmpty()) {
      spec.ifPresent(s -> cardsOf(s, cards).forEach(gpu -> uuids.add(gpu.uuid())));
    }
    ClaimRef named = named(record.uid());
    String namespace = record.namespace().orElse(named.namespace());
    return claim(new ClaimRef(namespace, record.name().orElse(named.name()), record.uid()), wholes(uuids, cards));
  }

  /** What a claim has that left files but no record. */
  PreparedClaim of(String uid, Inventory.Cards cards) throws IOException {
    Optional<CdiSpec> spec = cdi.readIfValid(uid);
    List<Grant> grants = new ArrayList<>();
    Set<String> shared = new TreeSet<>();
    for (Map.Entry<String, Limits> share : folders.limits(uid).entrySet()) {
      Limits limits = share.getValue();
      Optional<Gpu> gpu = cards.byUuid(limits.card());
      shared.add(limits.card());
      gpu.ifPresent(card -> grants.add(share(card, share.getKey(), limits)));
      cards.gpus().forEach(card -> instance(card, limits.card()).ifPresent(instance -> {
        shared.add(card.uuid());
        grants.add(share(card, share.getKey(), instance, limits));
      }));
    }
    Set<String> uuids = new TreeSet<>();
    spec.ifPresent(s -> cardsOf(s, cards).forEach(gpu -> uuids.add(gpu.uuid())));
    Optional<DriverNotes.Note> note = notes.of(uid);
    note.ifPresent(its -> uuids.addAll(its.cards()));
    uuids.removeAll(shared);
    if (!uuids.isEmpty() || shared.isEmpty()) {
      grants.addAll(wholes(uuids, cards));
    }
    return claim(named(uid), grants);
  }

  /** Whether anything of a claim lies here. */
  boolean areOf(String uid) throws IOException {
    return cdi.ids().contains(uid) || folders.uids().contains(uid) || notes.of(uid).isPresent();
  }

  /** UIDs of the claims of which something lies here. */
  Set<String> uids() throws IOException {
    Set<String> uids = new TreeSet<>(folders.uids());
    cdi.ids().stream().filter(ClaimRef::isUid).forEach(uids::add);
    uids.addAll(notes.uids());
    return uids;
  }

  private static List<Grant> wholes(Set<String> uuids, Inventory.Cards cards) {
    return cards.gpus().stream()
        .filter(gpu -> uuids.isEmpty() || uuids.contains(gpu.uuid()))
        .map(gpu -> grant(gpu, DeviceMode.WHOLE, Optional.empty(), new WholeCard()))
        .toList();
  }

  /** The static instance of that UUID, if the card has it. */
  private static Optional<MigInstance> instance(Gpu gpu, String uuid) {
    return gpu.staticMigInstances().stream().filter(instance -> instance.uuid().equals(uuid))
        .flatMap(instance -> instance.slot().stream())
        .flatMap(slot -> gpu.migProfile(slot).stream().map(profile -> MigInstance.of(profile, slot))).findFirst();
  }

  private static Grant share(Gpu gpu, String key, MigInstance instance, Limits limits) {
    Share share = new Share(limits.memoryBytes(), 0, CoreLimit.NONE, 1);
    return new Grant(List.of(), new DeviceName.MigShared(gpu.index(), instance.slot()).toString(), Optional.of(key),
        CardIdentity.of(gpu), new InstanceShare(instance, limits.card(), share));
  }

  private static Grant share(Gpu gpu, String key, Limits limits) {
    Share share = new Share(limits.memoryBytes(), limits.physicalBytes(), limits.cores(), CoreLimit.HARD, 1);
    return grant(gpu, DeviceMode.SHARED, Optional.of(key), new HookedShare(share));
  }

  private static Grant grant(Gpu gpu, DeviceMode mode, Optional<String> key, CardUse use) {
    return new Grant(List.of(), DeviceName.of(gpu.index(), mode).toString(), key, CardIdentity.of(gpu), use);
  }

  private static PreparedClaim claim(ClaimRef claim, List<Grant> grants) {
    return new PreparedClaim(claim, Phase.COMPLETED, "", grants, Map.of(), false);
  }

  /** What it has counts all the same where no file says whose it is. */
  private ClaimRef named(String uid) {
    ClaimRef nameless = new ClaimRef("", "", uid);
    try {
      return names.of(uid).orElse(nameless);
    } catch (IOException e) {
      return nameless;
    }
  }

  private static Stream<Gpu> cardsOf(CdiSpec spec, Inventory.Cards cards) {
    Set<String> uuids = spec.devices().stream().flatMap(device -> device.containerEdits().env().stream())
        .map(variable -> variable.replaceFirst(".*_UUID=", "")).collect(Collectors.toSet());
    Stream<Gpu> opaque = cards.gpus().stream().filter(gpu -> gpu.isOpaque() && uuids.contains(gpu.uuid()));
    return Stream.concat(opaque, spec.devices().stream()
        .flatMap(device -> device.containerEdits().deviceNodes().stream())
        .map(DeviceNode::path)
        .map(CARD_NODE::matcher)
        .filter(Matcher::matches)
        .map(node -> Integer.parseInt(node.group(1)))
        .distinct()
        .flatMap(minor -> cards.gpus().stream().filter(gpu -> gpu.minor() == minor && !gpu.isOpaque())));
  }
}
