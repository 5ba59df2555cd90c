package dev.partita.controller.selector.functions;

import static dev.partita.controller.selector.functions.CelFunctions.Type.FLAG;
import static dev.partita.controller.selector.functions.CelFunctions.Type.NUMBER;
import static dev.partita.controller.selector.functions.CelFunctions.Type.QUANTITY;
import static dev.partita.controller.selector.functions.CelFunctions.Type.SEMVER;
import static dev.partita.controller.selector.functions.CelFunctions.Type.TEXT;

import dev.cel.common.types.SimpleType;
import dev.partita.api.device.SemanticVersion;
import dev.partita.controller.selector.values.KubernetesQuantity;

/**
 * The quantity and semver functions that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library, quantity.go and
 * semverlib.go), with the same names and meaning.
 */
public final class AmountFunctions extends CelFunctions {
  public AmountFunctions() {
    quantities();
    versions();
  }

  private void quantities() {
    global("quantity", QUANTITY.cel(), TEXT, AmountFunctions::quantity);
    global("isQuantity", SimpleType.BOOL, TEXT, text -> KubernetesQuantity.parse(text).isPresent());
    member("sign", SimpleType.INT, QUANTITY, q -> (long) q.amount().signum());
    member("isInteger", SimpleType.BOOL, QUANTITY, KubernetesQuantity::isInteger);
    member("asInteger", SimpleType.INT, QUANTITY, q -> q.amount().longValueExact());
    member("asApproximateFloat", SimpleType.DOUBLE, QUANTITY, q -> q.amount().doubleValue());
    comparisons(QUANTITY);
    member("add", QUANTITY.cel(), QUANTITY, QUANTITY, KubernetesQuantity::plus);
    member("sub", QUANTITY.cel(), QUANTITY, QUANTITY, KubernetesQuantity::minus);
    member("add", QUANTITY.cel(), QUANTITY, NUMBER, (q, n) -> q.plus(KubernetesQuantity.of(n)));
    member("sub", QUANTITY.cel(), QUANTITY, NUMBER, (q, n) -> q.minus(KubernetesQuantity.of(n)));
  }

  private void versions() {
    global("semver", SEMVER.cel(), TEXT, text -> version(text, false));
    global("isSemver", SimpleType.BOOL, TEXT, text -> SemanticVersion.parse(text).isPresent());
    global("semver", SEMVER.cel(), TEXT, FLAG, AmountFunctions::version);
    global(
        "isSemver",
        SimpleType.BOOL,
        TEXT,
        FLAG,
        (text, normalise) -> (normalise ? SemanticVersion.parseNormalised(text) : SemanticVersion.parse(text))
            .isPresent());
    member("major", SimpleType.INT, SEMVER, v -> v.major().longValueExact());
    member("minor", SimpleType.INT, SEMVER, v -> v.minor().longValueExact());
    member("patch", SimpleType.INT, SEMVER, v -> v.patch().longValueExact());
    comparisons(SEMVER);
  }

  private static KubernetesQuantity quantity(String text) {
    return KubernetesQuantity.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("not a quantity: \"" + text + "\""));
  }

  private static SemanticVersion version(String text, boolean normalise) {
    return (normalise ? SemanticVersion.parseNormalised(text) : SemanticVersion.parse(text))
        .orElseThrow(() -> new IllegalArgumentException("not a semantic version: \"" + text + "\""));
  }
}
