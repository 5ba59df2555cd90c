package dev.partita.controller.selector;

/** A CEL expression, ready to be asked about devices, or the reason why it never will be. */
sealed interface CompiledSelector {
  record Program(dev.cel.runtime.CelRuntime.Program program) implements CompiledSelector {}

  record Broken(String error) implements CompiledSelector {}
}
