package dev.partita.cdi.driver;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A file by which programs find the driver's libraries for graphics: the loaders of Vulkan and of EGL read which
 * libraries they are to load, and OptiX reads its programs. The places are those where NVIDIA Container Toolkit looks
 * (internal/discover/graphics.go, newVulkanConfigsDiscover).
 */
public enum GraphicsFile {
  VULKAN_DRIVER("/etc", "vulkan/icd.d/nvidia_icd.json", "vulkan/icd.d/nvidia_icd.x86_64.json",
      "vulkan/icd.d/nvidia_icd.aarch64.json"),
  VULKAN_LAYERS("/etc", "vulkan/implicit_layer.d/nvidia_layers.json"),
  EGL_VENDOR("/usr/share", "glvnd/egl_vendor.d/10_nvidia.json"),
  OPTIX_PROGRAMS("/usr/share", "nvidia/nvoptix.bin");

  /** The last is where GKE's installer puts Vulkan's. */
  private static final List<String> FOLDERS = List.of("/etc/", "/usr/share/", "/");

  private final String path;
  @SuppressWarnings("ImmutableEnumChecker") // List.of makes none that changes
  private final List<String> names;

  GraphicsFile(String folder, String... names) {
    this.path = folder + "/" + names[0];
    this.names = List.of(names);
  }

  /** Where it is in a container. */
  public String path() {
    return path;
  }

  /** Where it may be below a driver root, in the order of preference. */
  Stream<String> candidates() {
    return names.stream().flatMap(name -> FOLDERS.stream().map(folder -> folder + name));
  }

  /** Whether one of them is there in a container. */
  public static boolean isAt(String path) {
    return Arrays.stream(values()).anyMatch(file -> file.path.equals(path));
  }
}
