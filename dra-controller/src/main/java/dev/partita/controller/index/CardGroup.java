package dev.partita.controller.index;

import dev.partita.controller.inventory.Device;
import java.util.List;

/** Cards that a request judges alike: every attribute that its selectors read is equal on all of them. */
public sealed interface CardGroup permits CardClass, CardPosition {
  /** The devices of one of them, whichever. */
  List<Device> example();
}
