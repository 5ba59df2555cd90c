package dev.partita.plugin.xid;

import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for NVML's XID errors. A fatal error makes its card unhealthy at once. */
public final class XidWatch {
  private static final Logger LOG = LoggerFactory.getLogger(XidWatch.class);
  private static final Duration WAIT = Duration.ofMillis(500); // whoever closes NVML waits for it
  private static final Duration PAUSE = Duration.ofSeconds(2);
  private static final Duration ALLOWED = Duration.ofMinutes(2);

  private final InventoryReader reader;
  private final NodeInventory inventory;
  private final XidCounts counts;
  private final XidLines lines = new XidLines(System::nanoTime);
  private boolean explained;

  /** @param counts where all of them are counted */
  public XidWatch(InventoryReader reader, NodeInventory inventory, XidCounts counts) {
    this.reader = reader;
    this.inventory = inventory;
    this.counts = counts;
  }

  /** Waits from now on. */
  public void start(Loops loops) {
    loops.makeAskingDriver("xid", ALLOWED, () -> awaitOne() ? Duration.ZERO : PAUSE).start();
  }

  /** Whether NVML could be asked. */
  private boolean awaitOne() {
    try {
      reader.awaitXid(WAIT).ifPresent(this::take);
      explained = false;
      return true;
    } catch (NvmlException e) {
      if (!explained) {
        LOG.info("cannot listen for XID errors now; trying again: {}", e.getMessage());
      }
      explained = true;
      return false;
    } catch (RuntimeException e) {
      LOG.warn("cannot handle an XID error: {}", e.toString());
      LOG.debug("what is done about an XID error has failed", e);
      return false;
    }
  }

  private void take(XidEvent event) {
    counts.add(event);
    Optional<String> earlier = lines.of(event);
    switch (event.kind()) {
      case PROGRAM -> say(event, earlier, "a matter of the program that had it; the card works");
      case NOTE -> say(event, earlier, "nothing is to be done");
      case RECOVERY -> {
        say(event, earlier, "the driver asks for something else to be done with it");
        inventory.readSoon();
      }
      case CARD -> blame(event, earlier);
    }
  }

  private static void say(XidEvent event, Optional<String> earlier, String what) {
    earlier.ifPresent(before -> LOG.info("card {}: {}{}: {}", event.card(), event.reason(), before, what));
  }

  private void blame(XidEvent event, Optional<String> earlier) {
    boolean isNew = reader.blame(event);
    if (isNew || earlier.isPresent()) {
      LOG.warn("card {}: {}{}{}", event.card(), event.reason(), earlier.orElse(""),
          isNew ? ": it is unhealthy until that is over" : " again");
    }
    if (isNew) {
      inventory.readSoon();
    }
  }
}
