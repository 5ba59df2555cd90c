package dev.partita.cdi.driver;

import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.Stream;

/**
 * The files of one driver installation.
 *
 * @param version such as 580.95.05
 * @param libraryFolder the folder with libcuda, below the driver root, such as /usr/lib/x86_64-linux-gnu
 * @param libraries every library of that version under each of its names (file, soname, link), by path
 * @param programs nvidia-smi and its like, by path
 * @param graphics what tells programs which libraries are Vulkan's, EGL's and OptiX's ({@link GraphicsFile}), by path
 * @param controlNodes device nodes that every container with a card needs (nvidiactl, nvidia-uvm, …), by path
 * @param cardNodes /dev/nvidia&lt;minor&gt;, by minor
 */
public record DriverFiles(
    String version,
    String libraryFolder,
    List<DriverFile> libraries,
    List<DriverFile> programs,
    List<DriverFile> graphics,
    List<DriverNode> controlNodes,
    SortedMap<Integer, DriverNode> cardNodes) {

  /** Name under which programs ask the loader for CUDA. */
  public static final String CUDA_SONAME = "libcuda.so.1";

  /** Name under which programs ask the loader for NVML. */
  public static final String NVML_SONAME = "libnvidia-ml.so.1";

  public DriverFiles {
    libraries = List.copyOf(libraries);
    programs = List.copyOf(programs);
    graphics = List.copyOf(graphics);
    controlNodes = List.copyOf(controlNodes);
    cardNodes = java.util.Collections.unmodifiableSortedMap(cardNodes);
  }

  /** A library by its name in the library folder. */
  public Optional<DriverFile> library(String name) {
    return libraries.stream().filter(f -> f.path().equals(libraryFolder + "/" + name)).findFirst();
  }

  /** A program by its name. */
  public Optional<DriverFile> program(String name) {
    return programs.stream().filter(file -> file.name().equals(name)).findFirst();
  }

  /** The file that holds CUDA's driver library. */
  public Optional<DriverFile> cuda() {
    return library("libcuda.so." + version).or(() -> library(CUDA_SONAME));
  }

  /** The file that holds NVML. */
  public Optional<DriverFile> nvml() {
    return library("libnvidia-ml.so." + version).or(() -> library(NVML_SONAME));
  }

  /** What every container with a card gets of the driver: its libraries and programs. */
  public Stream<DriverFile> mounted() {
    return Stream.concat(libraries.stream(), programs.stream());
  }

  /** A file that has gone since these were found, as when the driver was upgraded; looks at the files. */
  public Optional<DriverFile> gone() {
    return Stream.concat(mounted(), graphics.stream()).filter(file -> !Files.isRegularFile(file.localPath()))
        .findFirst();
  }
}
