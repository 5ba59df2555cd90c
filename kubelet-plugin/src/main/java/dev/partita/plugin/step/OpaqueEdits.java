package dev.partita.plugin.step;

import dev.partita.api.config.OpaqueCard;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What containers of an opaque card get: what its file says, and variables that tell how much of the card is theirs.
 * The variables hold nobody to anything.
 */
final class OpaqueEdits {
  private OpaqueEdits() {}

  static ContainerEdits of(Grant grant, OpaqueCard card) {
    List<String> env = new ArrayList<>(card.env());
    String prefix = "PARTITA_CARD_" + grant.card().index() + "_";
    env.add(prefix + "UUID=" + grant.card().uuid());
    env.add(prefix + "SERIAL=" + card.serial());
    if (grant.use() instanceof BookedShare share) {
      env.add(prefix + "MEMORY=" + share.memoryBytes());
      env.add(prefix + "CORES=" + share.cores());
    }
    List<DeviceNode> nodes = card.deviceNodes().stream()
        .map(path -> new DeviceNode(path, Optional.empty(), "", 0, 0, OptionalInt.empty(), "rw", Optional.empty(),
            Optional.empty()))
        .toList();
    return ContainerEdits.of(env, nodes, card.mounts().stream().map(path -> Mount.readOnly(path, path)).toList());
  }
}
