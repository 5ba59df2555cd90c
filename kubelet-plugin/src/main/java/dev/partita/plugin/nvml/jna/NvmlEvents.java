package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** A set of NVML's events. It has the events that came after it was made. */
final class NvmlEvents {
  private static final int TIMEOUT = 10; // NVML_ERROR_TIMEOUT
  private static final long XID_CRITICAL_ERROR = 8; // nvmlEventTypeXidCriticalError
  // nvmlEventData_t: device, type, data, and two numbers that the first version lacks
  private static final int DATA_BYTES = 32;
  private static final int DATA_TYPE = 8;
  private static final int DATA_XID = 16;

  private final NvmlCalls nvml;
  private final Pointer set;
  private final Map<Pointer, String> cards;

  private NvmlEvents(NvmlCalls nvml, Pointer set, Map<Pointer, String> cards) {
    this.nvml = nvml;
    this.set = set;
    this.cards = Map.copyOf(cards);
  }

  /**
   * Registers for the XID errors of the cards; a card that does not tell them, such as a lost one, is left out.
   *
   * @param cards UUIDs by handle
   * @throws NvmlException if there are no events
   */
  static NvmlEvents of(NvmlCalls nvml, Map<Pointer, String> cards) throws NvmlException {
    PointerByReference set = new PointerByReference();
    nvml.require(new String[]{"nvmlEventSetCreate"}, set);
    for (Pointer card : cards.keySet()) {
      nvml.answers(new String[]{"nvmlDeviceRegisterEvents"}, card, XID_CRITICAL_ERROR, set.getValue());
    }
    return new NvmlEvents(nvml, set.getValue(), cards);
  }

  /**
   * Waits for the next XID error; empty if none came.
   *
   * @throws NvmlException if the set is of no more use, for example since a card fell off the bus
   */
  Optional<XidEvent> await(Duration atMost) throws NvmlException {
    Memory data = NvmlCalls.zeros(DATA_BYTES);
    String function = nvml.has("nvmlEventSetWait_v2") ? "nvmlEventSetWait_v2" : "nvmlEventSetWait";
    int code = nvml.code(function, set, data, Math.toIntExact(atMost.toMillis()));
    if (code == TIMEOUT) {
      return Optional.empty();
    }
    if (code != 0) {
      throw new NvmlException(function, code, nvml.describe(code));
    }
    String card = cards.get(data.getPointer(0)); // asking the card for its UUID could fail now
    boolean isXid = (data.getLong(DATA_TYPE) & XID_CRITICAL_ERROR) != 0;
    return card != null && isXid ? Optional.of(new XidEvent(card, data.getLong(DATA_XID))) : Optional.empty();
  }

  void free() {
    nvml.answers(new String[]{"nvmlEventSetFree"}, set);
  }
}
