package dev.partita.controller.selector.functions;

import com.google.common.collect.ImmutableList;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.ast.CelExpr;
import dev.cel.compiler.CelCompilerLibrary;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelMacro;
import dev.cel.parser.CelMacroExprFactory;
import dev.cel.parser.CelParserBuilder;
import java.util.Set;

/**
 * {@code optMap} and {@code optFlatMap} that evaluate what they are called on once.
 *
 * <p>dev.cel writes the target into the expression twice ({@code target.hasValue() ? … target.value() … : none}), so
 * that each of several calls in a row doubles all that stands before it: twelve took 40 s to compile, fourteen more
 * memory than there is. Here the target is bound to a variable first, and the variable is written twice.
 */
public final class OptionalMacros implements CelCompilerLibrary {
  private static final Set<String> NAMES = Set.of("optMap", "optFlatMap");

  /** No name that somebody could have written. */
  private static final String TARGET = "@target";

  @Override
  public void setCheckerOptions(dev.cel.checker.CelCheckerBuilder checker) {}

  @Override
  public void setParserOptions(CelParserBuilder parser) {
    CelExtensions.getExtensionLibrary("optional", parser.getOptions()).latest().macros().stream()
        .filter(macro -> NAMES.contains(macro.getFunction()))
        .forEach(macro -> parser.addMacros(once(macro)));
  }

  private static CelMacro once(CelMacro macro) {
    return CelMacro.newReceiverMacro(
        macro.getFunction(),
        macro.getArgumentCount(),
        (factory, target, arguments) -> target.exprKind().getKind() == Kind.IDENT
            ? macro.getExpander().expandMacro(factory, target, arguments)
            : macro.getExpander().expandMacro(factory, factory.newIdentifier(TARGET), arguments)
                .map(call -> bound(factory, target, call)));
  }

  /** What {@code cel.bind(@target, target, call)} stands for. */
  private static CelExpr bound(CelMacroExprFactory factory, CelExpr target, CelExpr call) {
    return factory.fold(
        "#unused",
        factory.newList(ImmutableList.of()),
        TARGET,
        target,
        factory.newBoolLiteral(false),
        factory.newIdentifier(TARGET),
        call);
  }
}
