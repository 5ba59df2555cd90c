package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import dev.partita.plugin.nvml.CardReading;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Reads what a card's NVLinks lead to. */
record NvmlNvlink(NvmlCalls nvml, Pointer device) {
  static final int PCI_V3_BYTES = 68;
  static final int PCI_V3_BUS_ID = 36; // offset of busId, 32 bytes, in nvmlPciInfo_t
  private static final int LINKS_MAX = 18; // NVML_NVLINK_MAX_LINKS
  private static final int REMOTE_GPU = 0; // nvmlIntNvLinkDeviceType_t
  private static final int REMOTE_SWITCH = 2;
  static final int FABRIC_STATE_COMPLETED = 3; // NVML_GPU_FABRIC_STATE_COMPLETED

  /** As the driver has it now; what it does not tell is not there. */
  CardReading.Nvlink read() {
    boolean switched = false;
    List<String> peers = new ArrayList<>();
    for (int link = 0; link < LINKS_MAX; link++) {
      if (isActive(link)) {
        int type = remoteType(link);
        switched |= type == REMOTE_SWITCH;
        if (type == REMOTE_GPU) {
          peer(link).ifPresent(peers::add);
        }
      }
    }
    return new CardReading.Nvlink(fabric(), switched, peers);
  }

  private Optional<String> peer(int link) {
    Memory pci = NvmlCalls.zeros(PCI_V3_BYTES);
    return nvml.answers(new String[]{"nvmlDeviceGetNvLinkRemotePciInfo_v2"}, device, link, pci)
        ? Optional.of(NvmlNames.busId(pci.getString(PCI_V3_BUS_ID, "US-ASCII")))
        : Optional.empty();
  }

  private boolean isActive(int link) {
    IntByReference state = new IntByReference();
    return nvml.answers(new String[]{"nvmlDeviceGetNvLinkState"}, device, link, state) && state.getValue() == 1;
  }

  private int remoteType(int link) {
    IntByReference type = new IntByReference();
    return nvml.answers(new String[]{"nvmlDeviceGetNvLinkRemoteDeviceType"}, device, link, type)
        ? type.getValue()
        : REMOTE_GPU;
  }

  private Optional<String> fabric() {
    Memory fabric = NvmlCalls.zeros(NvmlHealth.FABRIC_BYTES);
    if (!nvml.answers(new String[]{"nvmlDeviceGetGpuFabricInfo"}, device, fabric)
        || fabric.getByte(NvmlHealth.FABRIC_STATE) != FABRIC_STATE_COMPLETED
        || fabric.getInt(NvmlHealth.FABRIC_STATUS) != 0) {
      return Optional.empty();
    }
    UUID cluster =
        new UUID(Long.reverseBytes(fabric.getLong(0)), Long.reverseBytes(fabric.getLong(8)));
    boolean known = cluster.getMostSignificantBits() != 0 || cluster.getLeastSignificantBits() != 0;
    return known ? Optional.of(cluster + "." + Integer.toUnsignedString(fabric.getInt(20))) : Optional.empty();
  }
}
