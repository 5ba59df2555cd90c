package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A JSON patch (RFC 6902) that changes our entries of a claim's {@code status.devices} and no others. An update would
 * send the allocation as well, which must not change: the server compares the bytes of the opaque parameters in it, and
 * the client does not keep the order of their fields. The patch tests that each entry is ours before it replaces the
 * entry, and that the claim still has the version that was read. If somebody else has written meanwhile, the patch
 * fails, and we read again.
 */
final class StatusPatch {
  private static final String DEVICES = "/status/devices";

  private StatusPatch() {}

  /**
   * The operations; empty if nothing is to be changed.
   *
   * @param pool entries of ours in it that are not wanted are removed
   */
  static List<Map<String, Object>> of(ResourceClaim claim, List<AllocatedDeviceStatus> wanted, String pool) {
    List<AllocatedDeviceStatus> there =
        claim.getStatus().getDevices() == null ? List.of() : claim.getStatus().getDevices();
    List<Map<String, Object>> changes = new ArrayList<>();
    List<Integer> gone = new ArrayList<>();
    for (int i = 0; i < there.size(); i++) {
      AllocatedDeviceStatus entry = there.get(i);
      if (!Driver.NAME.equals(entry.getDriver()) || !pool.equals(entry.getPool())) {
        continue;
      }
      AllocatedDeviceStatus now = wanted.stream().filter(w -> isSame(w, entry)).findFirst().orElse(null);
      if (now == null) {
        gone.addFirst(i);
      } else if (!now.equals(entry)) {
        changes.addAll(tests(i, entry));
        changes.add(operation("replace", DEVICES + "/" + i, now));
      }
    }
    for (int i : gone) { // from the last one: a removal moves those behind it
      changes.addAll(tests(i, there.get(i)));
      changes.add(Map.of("op", "remove", "path", DEVICES + "/" + i));
    }
    List<AllocatedDeviceStatus> fresh =
        wanted.stream().filter(w -> there.stream().noneMatch(t -> isSame(t, w))).toList();
    if (there.isEmpty() && !fresh.isEmpty()) {
      changes.add(operation("add", DEVICES, fresh));
    } else {
      fresh.forEach(device -> changes.add(operation("add", DEVICES + "/-", device)));
    }
    if (!changes.isEmpty()) {
      changes.addFirst(operation("replace", "/metadata/resourceVersion", claim.getMetadata().getResourceVersion()));
    }
    return changes;
  }

  /** Whether both are of one device, by the keys of the list in the API. */
  static boolean isSame(AllocatedDeviceStatus a, AllocatedDeviceStatus b) {
    return Objects.equals(a.getDriver(), b.getDriver())
        && Objects.equals(a.getPool(), b.getPool())
        && Objects.equals(a.getDevice(), b.getDevice())
        && Objects.equals(a.getShareID(), b.getShareID());
  }

  private static List<Map<String, Object>> tests(int index, AllocatedDeviceStatus entry) {
    List<Map<String, Object>> tests = new ArrayList<>();
    tests.add(operation("test", DEVICES + "/" + index + "/driver", entry.getDriver()));
    tests.add(operation("test", DEVICES + "/" + index + "/pool", entry.getPool()));
    tests.add(operation("test", DEVICES + "/" + index + "/device", entry.getDevice()));
    if (entry.getShareID() != null) {
      tests.add(operation("test", DEVICES + "/" + index + "/shareID", entry.getShareID()));
    }
    return tests;
  }

  private static Map<String, Object> operation(String op, String path, Object value) {
    Map<String, Object> operation = new LinkedHashMap<>();
    operation.put("op", op);
    operation.put("path", path);
    operation.put("value", value);
    return operation;
  }
}
