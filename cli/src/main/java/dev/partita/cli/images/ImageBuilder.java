package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.CacheDirectoryCreationException;
import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.ImageReference;
import com.google.cloud.tools.jib.api.InvalidImageReferenceException;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.LogEvent;
import com.google.cloud.tools.jib.api.RegistryException;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import com.google.cloud.tools.jib.image.json.PlatformNotFoundInBaseImageException;
import dev.partita.cli.checkout.Containerfile;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.EnvironmentProxies;
import dev.partita.cli.command.FileProblem;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes images with Jib, which is a library and asks no daemon.
 *
 * @param cache where layers are kept that were fetched or made
 * @param insecure whether registries may be asked over HTTP, or with a certificate that nobody vouches for
 * @param patience with a registry that cannot be reached
 * @param logins for registries
 */
record ImageBuilder(Path cache, boolean insecure, Duration patience, RegistryLogins logins) {
  private static final Duration PATIENCE = Duration.ofSeconds(8);

  ImageBuilder(Path cache, boolean insecure) {
    this(cache, insecure, PATIENCE, new RegistryLogins());
  }

  /** Writes an archive in OCI's image layout. What was there stays until the new one is whole. */
  OciArchive toArchive(ImageRequest request, Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Path part = file.resolveSibling(file.getFileName() + ".part");
      build(request, Containerizer.to(TarImage.at(part).named(request.reference(request.tag()))), Optional.empty());
      OciArchive written = OciArchive.read(part);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      return written;
    } catch (IOException | InvalidImageReferenceException failure) {
      throw CommandFailure.failed("%s cannot be written: %s".formatted(file, failure.getMessage()));
    }
  }

  /** Pushes an image under a tag; gives its digest. */
  String toRegistry(ImageRequest request, String tag) {
    ImageReference reference = reference(request.reference(tag));
    return build(request, Containerizer.to(logins.image(reference)), Optional.of(reference));
  }

  static ImageReference reference(String name) {
    try {
      return ImageReference.parse(name);
    } catch (InvalidImageReferenceException wrong) {
      throw CommandFailure.usage("'%s' is no image's name: --registry and --tag make it".formatted(name));
    }
  }

  private String build(ImageRequest request, Containerizer into, Optional<ImageReference> pushed) {
    String name = request.staged().name();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      try {
        return builder(request)
            .containerize(into.setToolName("partita").setToolVersion(request.provenance().version())
                .setBaseImageLayersCache(cache.resolve("base")).setApplicationLayersCache(cache.resolve("layers"))
                .setAllowInsecureRegistries(insecure).setExecutorService(threads)
                .addEventHandler(LogEvent.class, new RegistryPatience(patience)))
            .getDigest().toString();
      } finally {
        threads.shutdownNow(); // after a failure they would go on and write into the cache
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted while %s was made".formatted(name));
    } catch (ExecutionException failure) {
      throw failed(request, pushed, failure.getCause() == null ? failure : failure.getCause());
    } catch (IOException | RegistryException | CacheDirectoryCreationException failure) {
      throw failed(request, pushed, failure);
    }
  }

  private JibContainerBuilder builder(ImageRequest request) throws IOException {
    Containerfile says = request.staged().containerfile();
    JibContainerBuilder builder =
        from(request).setPlatforms(Set.of(new Platform(request.processor().architecture(), "linux")))
            .setFormat(ImageFormat.OCI).setCreationTime(request.provenance().created())
            .setEntrypoint(says.entrypoint()).setUser(says.user());
    ImageLayers.of(request.staged().root(), request.provenance().version()).forEach(builder::addFileEntriesLayer);
    request.provenance().labels(request.staged().name()).forEach(builder::addLabel);
    return builder;
  }

  /**
   * Says what a failure of Jib means for the person at the command line.
   *
   * @param pushed the image in a registry that was to be written, if one was
   */
  CommandFailure failed(ImageRequest request, Optional<ImageReference> pushed, Throwable why) {
    String name = request.staged().name();
    Optional<String> refusal = logins.refusal(why).or(() -> RegistryTrust.problem(why));
    if (refusal.isPresent()) {
      return CommandFailure.failed(name + ": " + refusal.get());
    }
    String message = String.valueOf(why.getMessage()).strip().replaceAll("\\s*\\n\\s*", "; ");
    return CommandFailure.failed(switch (why) {
      case PlatformNotFoundInBaseImageException other ->
          "%s for %s: the base image is for another processor (%s). Name one with --base"
              .formatted(name, request.processor(), message);
      case UnknownHostException _,SocketException _,InterruptedIOException _ ->
          "%s: a registry cannot be reached%s (%s)%s".formatted(name, proxies(request, pushed), message,
              withoutRegistry(request.base()));
      case FileSystemException file ->
          "%s cannot be made: %s: %s".formatted(name, file.getFile(), FileProblem.why(file));
      default -> "%s cannot be made: %s".formatted(name, message);
    });
  }

  /** Of all registries that were to be asked. */
  private static String proxies(ImageRequest request, Optional<ImageReference> pushed) {
    Stream<ImageReference> base =
        request.base() instanceof BaseImage.InRegistry(ImageReference reference)
            ? Stream.of(reference)
            : Stream.empty();
    return Stream.concat(base, pushed.stream())
        .map(asked -> EnvironmentProxies.way(URI.create("https://" + asked.getRegistry() + "/")))
        .filter(way -> !way.isEmpty()).distinct().collect(Collectors.joining(" or"));
  }

  private static String withoutRegistry(BaseImage base) {
    return base instanceof BaseImage.InRegistry
        ? ". Without one for the base image, which is " + base
            + ", --base takes the path of an archive (docker save, podman save) or of a root folder's tar file, or scratch"
        : "";
  }

  private JibContainerBuilder from(ImageRequest request) throws IOException {
    return switch (request.base()) {
      case BaseImage.InRegistry(ImageReference reference) -> Jib.from(logins.image(reference));
      case BaseImage.InRootArchive(Path file) -> Jib
          .from(TarImage.at(RootArchive.image(file, request.processor(), cache)));
      case BaseImage.Scratch() -> Jib.fromScratch();
      case BaseImage.InArchive(Path file) -> Jib.from(TarImage.at(file));
    };
  }
}
