package dev.partita.cli.release;

import dev.partita.cli.checkout.Checkout;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.images.ImageSet;
import dev.partita.cli.images.Processor;
import dev.partita.cli.images.Provenance;
import dev.partita.cli.images.StagedImages;
import dev.partita.cli.images.Staging;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Sheet;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita release}. */
@Command(
    name = "release",
    description = {
      "Makes everything that a release is, from a checkout, in one folder: images for amd64 and arm64 with the lists of what they hold, "
          + "the chart (also as registries keep it), its objects as YAML, the CRDs, the command line for both processors with a manifest for "
          + "krew, notes and checksums.",
      "",
      "It pushes and signs nothing: the page 'Make a release' shows how."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Needs: 'sh hook-lib/build.sh fetch compiler' once, and a JDK of the other processor, of this machine's version, in the folder that "
          + "$PARTITA_JDK_ARM64 (or $PARTITA_JDK_AMD64) names. The version is pom.xml's.",
      "",
      "Examples:",
      "  partita release --registry registry.example/partita \\",
      "      --url https://example.org/releases/v1",
      "  partita release --only amd64 --registry registry.example/partita \\",
      "      --url https://example.org/releases/v1"
    })
public final class ReleaseCommand implements Runnable {
  private static final Pattern ADDRESS = Pattern.compile("https?://[^/\\s\"'#?]+(/[^\\s\"'#?]*)?");

  @Spec private CommandSpec spec;

  @Option(names = "--registry", paramLabel = "PREFIX", required = true,
      description = "Where the images will be: the chart's default, and what stands in their names.") private String registry;

  @Option(names = "--url", paramLabel = "URL", required = true,
      description = "The folder in which the files will be, for krew.") private String url;

  @Option(names = "--tag", paramLabel = "TAG",
      description = "The images' tag (default: v and the version).") private @Nullable String tag;

  @Option(names = "--output", paramLabel = "FOLDER",
      description = "An empty folder, or one to be made (default: deploy/target/release/VERSION).") private @Nullable Path output;

  @Option(names = "--only", paramLabel = "PROCESSOR",
      description = "One processor alone: ${COMPLETION-CANDIDATES}.") private @Nullable Processor only;

  @Option(names = "--base", paramLabel = "IMAGE|FILE",
      description = "What the images lie on, as in 'partita images'; a file is for one processor, so only with --only.") private @Nullable String base;

  @Option(names = "--insecure",
      description = "Registries may answer over HTTP, or with a certificate that nobody vouches for. Over HTTP no login is sent.") private boolean insecure;

  @Override
  public void run() {
    if (!ADDRESS.matcher(url).matches()) {
      throw CommandFailure.usage(
          "--url: '%s' is not the address of a folder; write it as https://example.org/releases/v1".formatted(url));
    }
    List<Processor> processors = only == null ? List.of(Processor.values()) : List.of(only);
    ImageSet set =
        new ImageSet(List.of(), processors, Optional.ofNullable(base), registry,
            tag == null ? "v" + Checkout.version() : tag, insecure, Checkout.home().resolve(".partita/images"));
    Staging staging = new Staging(Checkout.home(), System.getenv());
    try {
      processors.forEach(staging::check);
    } catch (CommandFailure missing) {
      throw only != null
          ? missing
          : CommandFailure.usage(missing.getMessage() + "; or make a part of the release with --only");
    }
    String version = Checkout.version();
    ReleaseFacts facts =
        new ReleaseFacts(Provenance.of(Checkout.home(), version, System.getenv()), set.registry(), set.tag(),
            url.replaceAll("/+$", ""));
    Progress progress = new Progress(spec.commandLine().getErr(), InstantSource.system());
    try {
      Path folder = empty(output == null ? Checkout.home().resolve("deploy/target/release/" + version) : output);
      ReleaseFolder release = new ReleaseFolder(folder, Checkout.home(), facts, progress);
      release.chart();
      release.notes();
      release.command(processors);
      release.images(set, StagedImages.layOut(processors, staging, progress));
      print(release.sums());
    } catch (IOException refused) {
      throw CommandFailure.failed("the release cannot be written: " + FileProblem.why(refused));
    }
  }

  private static Path empty(Path folder) throws IOException {
    Files.createDirectories(folder);
    try (Stream<Path> there = Files.list(folder)) {
      if (there.findAny().isPresent()) {
        throw CommandFailure.usage("%s is not empty: name another folder with --output, or empty it".formatted(folder));
      }
    }
    return folder;
  }

  private void print(List<Path> files) throws IOException {
    Sheet sheet = new Sheet(Column.of("file", "FILE"), Column.of("size", "SIZE"));
    for (Path file : files) {
      sheet.row(Cell.text(file.toString()), Cell.memory(Files.size(file)));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(sheet.table(true));
    out.flush();
  }
}
