package dev.partita.cli.images;

import dev.partita.cli.checkout.Checkout;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Sheet;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita images}. */
@Command(
    name = "images",
    description = {
      "Makes the container images, from a checkout, without a container daemon: an OCI archive each, and in a registry with --push.",
      "",
      "Beside each archive lies the list of what it holds (SBOM), as a CycloneDX document. "
          + "The same sources give the same bytes, on the same base and with the same JDK. 'docker load', 'podman load' and 'ctr images import' "
          + "read the archives."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "A registry is asked with the login that 'podman login', 'skopeo login' or 'docker login' wrote. What the base image is, each Containerfile below deploy/image says.",
      "",
      "Examples:",
      "  partita images",
      "  partita images kubelet-plugin --output /tmp/images",
      "  partita images --registry registry.example/partita --tag v1 --push",
      "  mmdebstrap --variant=minbase trixie debian.tar",
      "  partita images --base debian.tar",
      "  partita images --processor amd64,arm64 --push --tag v1 \\",
      "      --registry registry.example/partita"
    })
public final class ImagesCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "IMAGE", arity = "0..*",
      description = "Which images: dra-controller, kubelet-plugin, simulator, probe; all of them without a name.") private List<String> names =
          new ArrayList<>();

  @Option(names = "--output", paramLabel = "FOLDER",
      description = "Where the archives are written (default: deploy/target/archives).") private @Nullable Path output;

  @Option(names = "--registry", paramLabel = "PREFIX", defaultValue = StagedImage.REGISTRY,
      description = "What stands before an image's name (default: ${DEFAULT-VALUE}, as in the chart).") private String registry;

  @Option(names = "--tag", paramLabel = "TAG", defaultValue = StagedImage.TAG,
      description = "Their tag (default: ${DEFAULT-VALUE}, as in the chart).") private String tag;

  @Option(names = "--push", description = "Pushes them to the registry as well.") private boolean push;

  @Option(names = "--processor", paramLabel = "NAME", split = ",", description = {
    "For which processors, as a release has them: ${COMPLETION-CANDIDATES}. The hook libraries are then portable "
        + "('sh hook-lib/build.sh fetch compiler' first), and another processor than this machine's needs a JDK of it, in the folder "
        + "that $PARTITA_JDK_ARM64 or $PARTITA_JDK_AMD64 names. Without it: this machine's, with the hook libraries as its compiler made them."}) private List<Processor> processors =
            new ArrayList<>();

  @Option(names = "--base", paramLabel = "IMAGE|FILE",
      description = "What they lie on, in the place of what the Containerfiles name: an image in a registry, an archive of "
          + "'docker save', a root folder's tar file (mmdebstrap), or scratch for nothing.") private @Nullable String base;

  @Option(names = "--insecure",
      description = "Registries may answer over HTTP, or with a certificate that nobody vouches for. Over HTTP no login is sent.") private boolean insecure;

  @Override
  public void run() {
    if (push && registry.equals(StagedImage.REGISTRY)) {
      throw CommandFailure.usage("--push needs --registry, such as registry.example/partita");
    }
    Progress progress = new Progress(spec.commandLine().getErr(), InstantSource.system());
    ImageSet set =
        new ImageSet(names, processors.isEmpty() ? List.of(Processor.here()) : processors, Optional.ofNullable(base),
            registry, tag, insecure,
            Checkout.home().resolve(".partita/images"));
    set.checkAmong(StagedImage.namesIn(Checkout.home())); // what they hold may take minutes to make
    StagedImages staged = staged(progress);
    Provenance provenance = Provenance.of(Checkout.home(), Checkout.version(), System.getenv());
    PrintWriter out = spec.commandLine().getOut();
    Path folder = output == null ? Checkout.home().resolve("deploy/target/archives") : output;
    List<ImageSet.Made> made = set.archive(staged, folder, provenance, progress);
    out.print(sheet(made).table(true));
    if (push) {
      set.push(staged, made, provenance, progress)
          .forEach((name, digest) -> out.println("%s/%s:%s@%s".formatted(set.registry(), name, tag, digest)));
    }
    out.flush();
  }

  private StagedImages staged(Progress progress) {
    if (processors.isEmpty()) {
      return new StagedImages(Map.of(Processor.here(), Checkout.images()));
    }
    return StagedImages.layOut(processors, new Staging(Checkout.home(), System.getenv()), progress);
  }

  private static Sheet sheet(List<ImageSet.Made> made) {
    Sheet sheet =
        new Sheet(Column.of("image", "IMAGE"), Column.of("processor", "PROCESSOR"), Column.of("size", "SIZE"),
            Column.of("user", "USER"), Column.of("digest", "DIGEST"), Column.of("archive", "ARCHIVE"));
    made.forEach(one -> sheet.row(Cell.text(one.name()), Cell.text(one.content().architecture()),
        Cell.memory(one.content().compressedSize()), Cell.text(one.content().user()),
        Cell.text(one.content().digest()), Cell.text(one.archive().toString())));
    return sheet;
  }
}
