package dev.partita.controller.index;

import dev.partita.controller.inventory.Device;
import java.util.List;

/** Cards of which the same can be said, by asks that read no more of a card than what these have in common. */
public sealed interface Alike permits Shelf, Spot {
  /** The devices of one of them, whichever. */
  List<Device> example();
}
