package dev.partita.cli.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.admission.convert.PodConversion;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.SourceCluster;
import dev.partita.api.Bytes;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.output.Printable;
import dev.partita.cli.output.YamlWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code partita convert}. */
@Command(
    name = "convert",
    description = {
      "Converts pods and claims that ask for GPUs in another system's way: writes the ResourceClaimTemplates, and the objects that use them.",
      "",
      "Known are HAMi, vgpu-manager, GPUManager (vcuda), gpushare and cGPU, Elastic GPU, qGPU, Volcano vGPU, Koordinator, fractions of KAI and "
          + "Run:ai, nvidia.com/gpu and MIG instances of NVIDIA's device plugin; in Pods, Deployments, "
          + "StatefulSets, DaemonSets, ReplicaSets, ReplicationControllers, Jobs, CronJobs, PodTemplates, the objects of Kubeflow's trainers and "
          + "notebooks, Ray, JobSet, LeaderWorkerSet, Grove, Volcano, Argo Rollouts, OpenKruise and OpenShift, and lists of them, YAML or JSON. "
          + "Of ResourceClaims and ResourceClaimTemplates, those of NVIDIA's DRA driver, vgpu-manager's and HAMi's.",
      "",
      "A document in which nothing is converted is written as it was, to the letter. In one that is converted comments are lost, anchors are "
          + "written out, and a style of quoting is not kept. Nothing is asked of any cluster."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:everything that asks for a GPU in an old way was converted",
      "1:a file cannot be read, is not YAML, or the output cannot be written; nothing was written",
      "2:it was asked for in a way that cannot work: one line says what to change",
      "3:all is written, but some of what asks for a GPU stayed as it was: stderr names each object, the field and why"
    },
    footer = {
      "",
      "Examples:",
      "  partita convert -f pods.yaml -o converted.yaml",
      "  kubectl get deployments -o yaml | partita convert -f - | kubectl diff -f -",
      "  partita convert -f hami.yaml --card-memory 80Gi   (percent as an amount)",
      "  partita convert -f gpushare.yaml --gpu-mem-unit MiB",
      "  partita convert -f claims.yaml --to nvidia-dra"
    })
public final class ConvertCommand implements Callable<Integer> {
  private static final int SOME_LEFT = 3;
  private static final int MOST_BYTES = 64 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec private CommandSpec spec;

  @Option(
      names = {"-f", "--filename"},
      required = true,
      paramLabel = "FILE",
      description = "What to convert; - is standard input. May be given several times.") private List<String> files;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Where to write; may be the file that is read. Default: standard output.") private Optional<Path> output =
          Optional.empty();

  @Option(
      names = "--card-memory",
      paramLabel = "AMOUNT",
      converter = MemoryConverter.class,
      description = "What a card has, such as 80Gi: turns percent of a card's memory into an amount, which kube-scheduler can allocate as well. Without it they stay a part of "
          + "each card, which only Partita's controller can allocate.") private Optional<Long> cardMemory =
              Optional.empty();

  @Option(
      names = "--gpu-mem-unit",
      paramLabel = "UNIT",
      description = "What aliyun.com/gpu-mem counts, MiB or GiB: as --memory-unit of gpushare's device plugin says. Without it, it is taken for GiB, the plugin's default, and a "
          + "line says so.") private Optional<MemoryUnit> gpuMemUnit = Optional.empty();

  @Option(
      names = "--to",
      paramLabel = "SYSTEM",
      description = "partita, or nvidia-dra: turns claims of Partita into claims of NVIDIA's DRA driver where these have an equal, and leaves all else. "
          + "Default: ${DEFAULT-VALUE}.") private ConvertTarget target = ConvertTarget.PARTITA;

  @Override
  public Integer call() throws IOException {
    OptionalLong memory = cardMemory.map(OptionalLong::of).orElseGet(OptionalLong::empty);
    ObjectConversion conversion =
        new ObjectConversion(new PodConversion(new SourceCluster(memory, gpuMemUnit)), target);
    List<String> documents = new ArrayList<>();
    for (String file : files) {
      for (Manifest manifest : Manifest.read(file.equals("-") ? "standard input" : file, text(file))) {
        convert(manifest, conversion, documents);
      }
    }
    write(String.join("---\n", documents));
    PrintWriter err = spec.commandLine().getErr();
    conversion.warnings().forEach(warning -> err.println("partita: " + Printable.lines(warning)));
    err.flush();
    return conversion.leftSomethingOut() ? SOME_LEFT : 0;
  }

  private static void convert(Manifest manifest, ObjectConversion conversion, List<String> documents) {
    JsonNode object = manifest.object();
    ObjectConversion.Result result = conversion.convert(object);
    for (JsonNode template : result.templates()) {
      documents.add(yaml(template));
    }
    if (!result.object().equals(object)) {
      documents.add(yaml(result.object()));
    } else if (!manifest.text().isBlank()) {
      documents.add(manifest.text().endsWith("\n") ? manifest.text() : manifest.text() + "\n");
    }
  }

  private static String yaml(JsonNode object) {
    return YamlWriter.write(JSON.convertValue(object, Object.class));
  }

  private static String text(String file) {
    try (InputStream in = file.equals("-") ? System.in : Files.newInputStream(Path.of(file))) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw CommandFailure.failed("%s has more than %d MiB: convert it in parts".formatted(file, MOST_BYTES >> 20));
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (NoSuchFileException e) {
      throw CommandFailure.failed("there is no file " + file);
    } catch (CharacterCodingException e) {
      throw CommandFailure.failed(file + " is not text in UTF-8");
    } catch (IOException e) {
      throw CommandFailure.failed(file + " cannot be read: " + FileProblem.why(e));
    }
  }

  private void write(String text) {
    if (output.isEmpty()) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(text);
      out.flush();
      return;
    }
    Path file = output.get().toAbsolutePath();
    try {
      if (Files.exists(file) && !Files.isRegularFile(file)) {
        Files.writeString(file, text); // a pipe or a device
        return;
      }
      Path target = Files.exists(file) ? file.toRealPath() : file;
      Path whole = target.resolveSibling("." + target.getFileName() + "." + ProcessHandle.current().pid());
      try {
        Files.writeString(whole, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        if (Files.exists(target)) {
          Files.setPosixFilePermissions(whole, Files.getPosixFilePermissions(target));
        }
        Files.move(whole, target, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(whole);
      }
    } catch (IOException e) {
      throw CommandFailure.failed(output.get() + " cannot be written: " + FileProblem.why(e));
    }
  }

  /** Reads an amount of memory such as {@code 80Gi}. */
  static final class MemoryConverter implements ITypeConverter<Long> {
    private static final long MOST = 1L << 40;

    @Override
    public Long convert(String value) {
      try {
        long bytes = Bytes.of(value);
        if (bytes >= 1 << 20 && bytes <= MOST) {
          return bytes;
        }
      } catch (IllegalArgumentException | ArithmeticException _) {
        // Said below.
      }
      throw new TypeConversionException("'" + value + "' is not what a card can have; write it as 80Gi");
    }
  }
}
