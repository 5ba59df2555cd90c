package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

/** The chart's settings against those that the programs declare. */
class SettingsChartTest {
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{env:(PARTITA_\\w+)(?::-(.*))?}");
  private static final Map<String, String> PLUGIN = defaults(new dev.partita.plugin.Main());
  private static final Map<String, String> CONTROLLER = defaults(new dev.partita.controller.Main());

  /** What is so in a pod, though not where somebody starts the program by hand. */
  private static final Map<String, String> IN_A_POD =
      Map.of("PARTITA_DRIVER_ROOT", "/driver-root", "PARTITA_DRIVER_ROOT_ON_HOST", "/", "PARTITA_SYSFS_ROOT", "/sys",
          "PARTITA_HEALTH_PORT", "8080", "PARTITA_METRICS_PORT", "9400", "PARTITA_WEB_PORT", "8083",
          "PARTITA_WEBHOOK_PORT", "8443", "PARTITA_SHARED_MEMORY_ROOT", "/run/partita/shm", "PARTITA_CARD_FILES",
          "/etc/partita/cards.d", "PARTITA_DEV_ROOT", "/host/dev");

  /** Lists and maps of which a pod, or a monitor, may have none. */
  private static final Set<String> MAY_BE_MISSING =
      Set.of("image.pullSecrets", "controller.resources", "controller.nodeSelector", "controller.tolerations",
          "controller.affinity", "controller.env", "plugin.resources", "plugin.nodeSelector", "plugin.tolerations",
          "plugin.env", "metrics.podMonitor.labels", "metrics.serviceMonitor.labels",
          "metrics.prometheusRule.labels", "metrics.dashboards.labels", "plugin.runtimeClassName",
          "driver.extraMounts", "webhook.certManager.issuerRef");

  @Test
  void theChartSetsOnlyVariablesThatTheProgramsRead() {
    assertThat(variables(Chart.plugin(Map.of("plugin.mig", true, "simulation.enabled", true))))
        .isSubsetOf(PLUGIN.keySet());
    assertThat(variables(Chart.controller(Map.of("webhook.certManager.enabled", true))))
        .isSubsetOf(CONTROLLER.keySet());
  }

  @Test
  void whatTheChartSetsByDefaultIsTheProgramsDefaultUnlessAPodNeedsAnother() {
    assertDefaults(Chart.plugin(Map.of()), PLUGIN);
    assertDefaults(Chart.controller(Map.of()), CONTROLLER);
  }

  @Test
  void theControllersHealthPortIsWhereTheProgramListensByDefault() {
    assertThat(Chart.controller(Map.of()).getContainers().getFirst().getPorts())
        .filteredOn(port -> port.getName().equals("health")).map(ContainerPort::getContainerPort)
        .containsExactly(Integer.valueOf(CONTROLLER.get("PARTITA_HEALTH_PORT")));
  }

  /**
   * A value is missing where it is set to null, or where an upgrade with --reuse-values takes those of a chart that did
   * not have it yet.
   */
  @Test
  void aValueThatIsMissingIsNamedUnlessNoneIsMeantByIt() throws IOException {
    Map<String, Object> everything = Map.of("webhook.certManager.enabled", true, "metrics.podMonitor.enabled", true,
        "metrics.serviceMonitor.enabled", true, "metrics.prometheusRule.enabled", true,
        "metrics.dashboards.enabled", true, "simulation.enabled", true, "openshift", true);
    Map<String, Object> defaults =
        new Yaml().load(Files.readString(Path.of("../deploy/helm/partita/values.yaml")));
    List<String> unnamed = new ArrayList<>();
    paths("", defaults).filter(path -> !MAY_BE_MISSING.contains(path)).forEach(path -> {
      String said = refusalWithout(path, everything);
      if (!said.contains("missing propert") || !said.contains("'" + path.substring(path.lastIndexOf('.') + 1) + "'")) {
        unnamed.add(path + ": " + said);
      }
    });
    assertThat(unnamed).isEmpty();
    for (String path : MAY_BE_MISSING) {
      assertThat(refusalWithout(path, everything)).as(path).isEmpty();
    }
  }

  /** Why the chart refuses these values without that one; empty if it does not. */
  private static String refusalWithout(String path, Map<String, Object> others) {
    Map<String, Object> values = new HashMap<>(others);
    values.keySet().removeIf(other -> other.startsWith(path + "."));
    values.put(path, "null");
    try {
      Chart.text(values);
      return "";
    } catch (RuntimeException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  /** Of sections and of values. */
  private static Stream<String> paths(String section, Map<?, ?> values) {
    return values.entrySet().stream().flatMap(entry -> {
      String path = section + entry.getKey();
      return entry.getValue() instanceof Map<?, ?> inner && !inner.isEmpty() && !MAY_BE_MISSING.contains(path)
          ? Stream.concat(Stream.of(path), paths(path + ".", inner))
          : Stream.of(path);
    });
  }

  private static void assertDefaults(PodSpec pod, Map<String, String> defaults) {
    Map<String, String> expected = new HashMap<>(defaults);
    expected.putAll(IN_A_POD);
    Chart.environment(pod).entrySet().stream().filter(set -> set.getKey().startsWith("PARTITA_"))
        .forEach(set -> assertThat(set.getValue()).as(set.getKey()).isEqualTo(expected.get(set.getKey())));
  }

  private static List<String> variables(PodSpec pod) {
    return pod.getContainers().getFirst().getEnv().stream().map(EnvVar::getName)
        .filter(name -> name.startsWith("PARTITA_")).toList();
  }

  /** Defaults by variable, as the program's options declare them; empty for none. */
  private static Map<String, String> defaults(Object program) {
    Map<String, String> found = new HashMap<>();
    for (OptionSpec option : new CommandLine(program).getCommandSpec().options()) {
      // What the option itself gives is what the variable says in this process.
      Option declared = ((AnnotatedElement) option.userObject()).getAnnotation(Option.class);
      Matcher variable = VARIABLE.matcher(declared == null ? "" : declared.defaultValue());
      if (variable.matches()) {
        found.put(variable.group(1), variable.group(2) == null ? "" : variable.group(2));
      }
    }
    return found;
  }
}
