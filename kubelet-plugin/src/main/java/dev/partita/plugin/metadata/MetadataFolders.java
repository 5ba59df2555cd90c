package dev.partita.plugin.metadata;

import dev.partita.api.DnsName;
import dev.partita.api.Driver;
import dev.partita.cdi.DurableFile;
import dev.partita.cdi.Mount;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.share.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The files of device metadata on the host: of each request of a claim a folder, which is mounted in its containers.
 * They lie beside the usage regions: a reboot takes both, as it ends the containers, so nothing has to reach a disk.
 *
 * <p>It is the folder that is mounted, so that a file can be replaced by another one: whoever reads finds all of the
 * old one or all of the new one. A request that has other drivers' devices too is the exception: they have files in the
 * same folder, so there the file is mounted, and stays what it was when its container was started.
 *
 * <p>A container can hold a lease on a file that is mounted for it, so that whoever opens the file has to wait. So what
 * was written last is kept where no container can open it, and is read there.
 */
public final class MetadataFolders {
  private static final Path IN_CONTAINER = Path.of("/var/run/kubernetes.io/dra-device-attributes");
  private static final String FILE_NAME = Driver.NAME + "-metadata.json";

  /** A claim has 32 devices at most, with 32 attributes of which none is longer than 64 characters. */
  private static final int MOST_BYTES = 512 << 10;

  private static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rw-r--r--");

  private final Path root;

  /**
   * @param runRoot holds {@code metadata/<claim UID>/mounted/<request>/gpu.partita.dev-metadata.json}, and what was
   *        written last in {@code metadata/<claim UID>/written/<request>}
   */
  public MetadataFolders(Path runRoot) {
    this.root = runRoot.resolve("metadata");
  }

  /**
   * Has the file of a request say that. If it says so already it stays; else its generation becomes a larger one.
   *
   * @param request without a subrequest
   */
  public void write(String uid, String request, DeviceMetadata metadata) throws IOException {
    Path folder = Files.createDirectories(mounted(uid, request));
    Path file = folder.resolve(FILE_NAME);
    Path written = Files.createDirectories(of(uid).resolve("written")).resolve(label(request));
    Path begun = written.resolveSibling(request + ".begun"); // a plugin was killed while it wrote that
    Optional<byte[]> last = DurableFile.read(written);
    long generation = Math.max(last.map(DeviceMetadata::generationOf).orElse(0L),
        DurableFile.read(begun).map(DeviceMetadata::generationOf).orElse(0L));
    if (generation > 0 && !Files.exists(begun) && Files.exists(file)
        && Arrays.equals(metadata.at(generation), last.orElseThrow())) {
      return;
    }
    byte[] bytes = metadata.at(generation + 1);
    if (bytes.length > MOST_BYTES) {
      throw new IOException(
          "the device metadata of request " + request + " would have " + bytes.length + " bytes, more than "
              + MOST_BYTES);
    }
    Files.write(begun, bytes);
    DurableFile.removeLeftovers(folder, FILE_NAME);
    DurableFile.replace(file, bytes, READABLE);
    Files.move(begun, written, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** What containers with a device mount: the metadata of the requests that it answers. */
  public List<Mount> mounts(PreparedClaim claim, Grant grant) {
    return claim.names().stream()
        .flatMap(names -> grant.requests().stream().map(request -> mount(claim.claim(), names, request))).toList();
  }

  private Mount mount(ClaimRef claim, MetadataNames names, String request) {
    Path inside =
        (names.podClaimName().isPresent()
            ? IN_CONTAINER.resolve("resourceclaimtemplates").resolve(label(names.podClaimName().get()))
            : IN_CONTAINER.resolve("resourceclaims").resolve(part(DnsName.isSubdomain(claim.name()), claim.name())))
            .resolve(label(request));
    Path here = mounted(claim.uid(), request);
    return names.ofSeveralDrivers().contains(request)
        ? Mount.readOnly(here.resolve(FILE_NAME).toString(), inside.resolve(FILE_NAME).toString())
        : Mount.readOnly(here.toString(), inside.toString());
  }

  /** Whether there is a file for each request of a claim that is to have one. */
  public boolean hasAll(PreparedClaim claim) {
    return claim.names().isEmpty() || claim.requests().stream()
        .allMatch(request -> Files.exists(mounted(claim.claim().uid(), request).resolve(FILE_NAME)));
  }

  /** Removes all files of a claim; whether there were any. */
  public boolean remove(String uid) throws IOException {
    return FolderTree.remove(of(uid));
  }

  /** UIDs of the claims that have files here. */
  public Set<String> uids() throws IOException {
    Set<String> uids = new TreeSet<>();
    if (Files.isDirectory(root)) {
      try (Stream<Path> folders = Files.list(root)) {
        folders.map(folder -> String.valueOf(folder.getFileName())).filter(ClaimRef::isUid).forEach(uids::add);
      }
    }
    return uids;
  }

  private Path of(String uid) {
    return root.resolve(part(ClaimRef.isUid(uid), uid));
  }

  private Path mounted(String uid, String request) {
    return of(uid).resolve("mounted").resolve(label(request));
  }

  private static String label(String name) {
    return part(DnsName.isLabel(name), name);
  }

  /** A part of a path: whatever a record says, it leads nowhere else. */
  private static String part(boolean isOne, String name) {
    if (!isOne) {
      throw new IllegalStateException("\"" + name + "\" cannot be part of a path of device metadata");
    }
    return name;
  }
}
