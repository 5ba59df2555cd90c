package dev.partita.plugin.nvml.jna;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import dev.partita.plugin.nvml.NvmlException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * NVML's functions by name, from one file. Every instance has a library of its own, so several can live in one process.
 */
final class NvmlCalls {
  private static final int RTLD_NOW_LOCAL = 2;

  private final NativeLibrary library;
  private final Map<String, Optional<Function>> functions = new ConcurrentHashMap<>();

  private NvmlCalls(NativeLibrary library) {
    this.library = library;
  }

  /** Loads the library; starts nothing. */
  static NvmlCalls load(Path file) throws NvmlException {
    try {
      return new NvmlCalls(
          NativeLibrary.getInstance(file.toString(), Map.of(Library.OPTION_OPEN_FLAGS, RTLD_NOW_LOCAL)));
    } catch (UnsatisfiedLinkError e) {
      throw new NvmlException("loading " + file, 0, String.valueOf(e.getMessage()));
    }
  }

  void unload() {
    library.close();
  }

  /** Calls the first of the functions that the library has. */
  void require(String[] names, Object... arguments) throws NvmlException {
    Function function = first(names);
    if (function == null) {
      throw new NvmlException(names[0], 0, "this driver's NVML does not have the function");
    }
    int code = function.invokeInt(arguments);
    if (code != 0) {
      throw new NvmlException(names[0], code, describe(code));
    }
  }

  /** Whether the library has the function and it succeeded. */
  boolean answers(String[] names, Object... arguments) {
    Function function = first(names);
    return function != null && function.invokeInt(arguments) == 0;
  }

  /** Whether the library has the function. */
  boolean has(String name) {
    return first(new String[]{name}) != null;
  }

  /** What the function returns, nvmlReturn_t; it must be there. */
  int code(String name, Object... arguments) throws NvmlException {
    Function function = first(new String[]{name});
    if (function == null) {
      throw new NvmlException(name, 0, "this driver's NVML does not have the function");
    }
    return function.invokeInt(arguments);
  }

  String describe(int code) {
    Function function = first(new String[]{"nvmlErrorString"});
    return function == null ? "error" : function.invokeString(new Object[]{code}, false);
  }

  static Memory zeros(long bytes) {
    Memory memory = new Memory(bytes);
    memory.clear();
    return memory;
  }

  private @Nullable Function first(String[] names) {
    for (String name : names) {
      Optional<Function> function = functions.computeIfAbsent(name, this::find);
      if (function.isPresent()) {
        return function.get();
      }
    }
    return null;
  }

  private Optional<Function> find(String name) {
    try {
      return Optional.of(library.getFunction(name));
    } catch (UnsatisfiedLinkError e) {
      return Optional.empty();
    }
  }
}
