package dev.partita.cli.release;

import com.marcnuri.helm.Helm;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.Subprocess;
import dev.partita.cli.images.ImageSet;
import dev.partita.cli.images.Processor;
import dev.partita.cli.images.Sha256;
import dev.partita.cli.images.StagedImages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Fills the folder of a release.
 *
 * @param folder which is empty
 * @param checkout the project's, whose jars are built
 * @param facts of the release
 * @param progress told step by step
 */
record ReleaseFolder(Path folder, Path checkout, ReleaseFacts facts, Progress progress) {
  private static final String SUMS = "SHA256SUMS";

  /** The images' archives and the lists of what they hold. */
  List<ImageSet.Made> images(ImageSet set, StagedImages staged) {
    return set.archive(staged, folder, facts.provenance(), progress);
  }

  /** The chart, as an archive and as registries keep it; its objects with the default values; the CRDs alone. */
  void chart() throws IOException {
    progress.step("the chart");
    ChartPackage chart = ChartPackage.of(checkout.resolve("deploy/helm/partita"), facts);
    Path archive = Files.write(folder.resolve(chart.fileName()), chart.archive());
    Files.write(folder.resolve("partita-chart-" + facts.version() + ".oci.tar"), chart.ociArchive());
    Files.writeString(folder.resolve("partita-crds-" + facts.version() + ".yaml"), chart.definitions());
    String rendered =
        new Helm(archive).template().withName("partita").withNamespace("partita-system")
            .withKubeVersion(chart.oldestKubernetes()).skipCrds().call();
    Files.writeString(folder.resolve("partita-" + facts.version() + ".yaml"), rendered);
  }

  /** The command line's archive for each processor, and krew's manifest of them. */
  void command(List<Processor> processors) throws IOException {
    Map<Processor, Path> archives = new EnumMap<>(Processor.class);
    for (Processor processor : processors) {
      progress.step("the command line for " + processor);
      String made =
          Subprocess.must(Map.of("PARTITA_PROCESSOR", processor.architecture()),
              List.of("bash", checkout.resolve("deploy/command/stage.sh").toString())).strip();
      Path into = folder.resolve(Path.of(made).getFileName());
      archives.put(processor, Files.copy(Path.of(made), into, StandardCopyOption.REPLACE_EXISTING));
    }
    Files.writeString(folder.resolve("partita.krew.yaml"),
        KrewManifest.of(checkout.resolve("deploy/command/krew.yaml"), archives, facts));
  }

  /** What is new. */
  void notes() throws IOException {
    Files.writeString(folder.resolve("NOTES.md"), ReleaseNotes.of(checkout, facts));
  }

  /** The sums of all files, as {@code sha256sum --check} reads them; gives the files. */
  List<Path> sums() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(file -> !file.endsWith(SUMS)).sorted().toList();
    }
    StringBuilder sums = new StringBuilder();
    for (Path file : files) {
      sums.append(Sha256.of(file)).append("  ").append(file.getFileName()).append('\n');
    }
    Files.writeString(folder.resolve(SUMS), sums);
    return files;
  }
}
