package dev.partita.plugin;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Locks a state folder against plugins that must not share it. Plugins that run in pods share it, since a rolling
 * update has two of them for a while; a plugin outside a pod has it alone. The lock ends with the process.
 */
final class InstanceLock implements AutoCloseable {
  private final FileChannel file;

  private InstanceLock(FileChannel file) {
    this.file = file;
  }

  static InstanceLock acquire(Path stateRoot, Optional<String> podUid) {
    Path path = stateRoot.resolve("plugin.lock");
    FileChannel file = null;
    try {
      Files.createDirectories(stateRoot);
      file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      FileLock lock = tryLock(file, podUid.isPresent());
      if (lock == null) {
        file.close();
        throw new PluginStartException(
            "the state folder " + stateRoot
                + " is in use by another plugin; stop that one, or give this one another --state-root");
      }
      return new InstanceLock(file);
    } catch (IOException e) {
      throw new PluginStartException("the state folder " + stateRoot + " cannot be used: " + e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private static @Nullable FileLock tryLock(FileChannel file, boolean shared) throws IOException {
    try {
      return file.tryLock(0, Long.MAX_VALUE, shared);
    } catch (OverlappingFileLockException e) { // held by a plugin in this very process
      return null;
    }
  }
}
