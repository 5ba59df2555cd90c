package dev.partita.cdi;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The rules of the CDI specification that a spec must keep, so that no container runtime refuses it. Each problem names
 * its field, as {@code devices[1].containerEdits.env[0]}. Stricter than the specification in one point: paths must be
 * absolute, since nothing says what a relative one would be relative to.
 */
public final class CdiValidation {
  private static final Set<String> VERSIONS =
      Set.of("0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0");
  private static final Pattern VENDOR_OR_CLASS = Pattern.compile("[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
  private static final Pattern DEVICE_NAME = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?");
  private static final Pattern ANNOTATION_NAME = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");
  private static final Pattern ANNOTATION_PREFIX =
      Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*");
  private static final Pattern PERMISSIONS = Pattern.compile("[rwm]*|none");
  private static final Set<String> DEVICE_TYPES = Set.of("", "b", "c", "u", "p");
  private static final long GID_MAX = 0xFFFF_FFFFL;
  private static final int ANNOTATIONS_LIMIT_BYTES = 256 * 1024;

  private final List<String> problems = new ArrayList<>();

  private CdiValidation() {}

  /** All that is wrong with a spec; empty if nothing is. */
  public static List<String> problemsOf(CdiSpec spec) {
    CdiValidation validation = new CdiValidation();
    validation.spec(spec);
    return List.copyOf(validation.problems);
  }

  private void spec(CdiSpec spec) {
    require(VERSIONS.contains(spec.version()), "cdiVersion", "is not a known version: \"" + spec.version() + "\"");
    require(
        VENDOR_OR_CLASS.matcher(spec.kind().vendor()).matches(),
        "kind",
        "must begin with a vendor of letters, digits and _-. inside: \"" + spec.kind() + "\"");
    require(
        VENDOR_OR_CLASS.matcher(spec.kind().deviceClass()).matches(),
        "kind",
        "must end with a class of letters, digits and _-. inside: \"" + spec.kind() + "\"");
    int size = 0;
    for (var annotation : spec.annotations().entrySet()) {
      annotationKey(annotation.getKey());
      size += annotation.getKey().length() + annotation.getValue().length();
    }
    require(size <= ANNOTATIONS_LIMIT_BYTES, "annotations", "must not take more than 256 KiB");
    require(!spec.devices().isEmpty(), "devices", "must not be empty");
    Set<String> names = new HashSet<>();
    for (int i = 0; i < spec.devices().size(); i++) {
      CdiDevice device = spec.devices().get(i);
      String at = "devices[" + i + "]";
      require(
          DEVICE_NAME.matcher(device.name()).matches(),
          at + ".name",
          "must be letters, digits and _-.: inside: \"" + device.name() + "\"");
      require(names.add(device.name()), at + ".name", "is there twice: \"" + device.name() + "\"");
      require(!device.containerEdits().isEmpty(), at + ".containerEdits", "must not be empty");
      edits(at + ".containerEdits", device.containerEdits());
    }
    edits("containerEdits", spec.containerEdits());
  }

  private void annotationKey(String key) {
    int slash = key.indexOf('/');
    boolean prefixed = slash < 0 || (slash <= 253 && ANNOTATION_PREFIX.matcher(key.substring(0, slash)).matches());
    require(
        prefixed && ANNOTATION_NAME.matcher(key.substring(slash + 1)).matches(),
        "annotations",
        "must have keys in the form [prefix/]name: \"" + key + "\"");
  }

  private void edits(String at, ContainerEdits edits) {
    env(at + ".env", edits.env());
    for (int i = 0; i < edits.deviceNodes().size(); i++) {
      deviceNode(at + ".deviceNodes[" + i + "]", edits.deviceNodes().get(i));
    }
    for (int i = 0; i < edits.mounts().size(); i++) {
      Mount mount = edits.mounts().get(i);
      absolute(at + ".mounts[" + i + "].hostPath", mount.hostPath());
      absolute(at + ".mounts[" + i + "].containerPath", mount.containerPath());
    }
    for (int i = 0; i < edits.hooks().size(); i++) {
      Hook hook = edits.hooks().get(i);
      String path = at + ".hooks[" + i + "]";
      require(Hook.NAMES.contains(hook.hookName()), path + ".hookName",
          "is not an OCI hook: \"" + hook.hookName() + "\"");
      absolute(path + ".path", hook.path());
      for (int j = 0; j < hook.args().size(); j++) {
        require(hook.args().get(j).indexOf('\0') < 0, path + ".args[" + j + "]", "must not hold a NUL");
      }
      env(path + ".env", hook.env());
      require(
          hook.timeoutSeconds().isEmpty() || hook.timeoutSeconds().getAsInt() > 0,
          path + ".timeout",
          "must be more than 0 seconds: " + hook.timeoutSeconds());
    }
    for (int i = 0; i < edits.additionalGids().size(); i++) {
      long gid = edits.additionalGids().get(i);
      require(gid >= 0 && gid <= GID_MAX, at + ".additionalGids[" + i + "]", "must be a group id: " + gid);
    }
  }

  private void env(String at, List<String> env) {
    for (int i = 0; i < env.size(); i++) {
      String variable = env.get(i);
      require(
          variable.indexOf('=') > 0 && variable.indexOf('\0') < 0,
          at + "[" + i + "]",
          "must be NAME=value: \"" + variable + "\"");
    }
  }

  private void deviceNode(String at, DeviceNode node) {
    absolute(at + ".path", node.path());
    node.hostPath().ifPresent(path -> absolute(at + ".hostPath", path));
    require(DEVICE_TYPES.contains(node.type()), at + ".type", "must be b, c, u or p: \"" + node.type() + "\"");
    require(
        PERMISSIONS.matcher(node.permissions()).matches(),
        at + ".permissions",
        "must be out of rwm, or none: \"" + node.permissions() + "\"");
    require(node.major() >= 0, at + ".major", "must not be negative: " + node.major());
    require(node.minor() >= 0, at + ".minor", "must not be negative: " + node.minor());
  }

  private void absolute(String at, String path) {
    require(path.startsWith("/") && path.indexOf('\0') < 0, at, "must be an absolute path: \"" + path + "\"");
  }

  private void require(boolean holds, String at, String problem) {
    if (!holds) {
      problems.add(at + " " + problem);
    }
  }
}
