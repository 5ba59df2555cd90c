package dev.partita;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds ARCHITECTURE.md's picture against the code. */
class ArchitectureTest {
  private static final JavaClasses PARTITA =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar")) // as modules are to each other once packaged
          .importPackages("dev.partita");

  private static final String API = "dev.partita.api..";
  private static final String CDI = "dev.partita.cdi..";
  private static final String ADMISSION = "dev.partita.admission..";
  private static final String SERVING = "dev.partita.serving..";
  private static final String PLUGIN = "dev.partita.plugin..";
  private static final String CONTROLLER = "dev.partita.controller..";
  private static final String CLI = "dev.partita.cli..";
  private static final Pattern ROOM = Pattern.compile("`([a-z]+)`");

  @Test
  void apiKnowsNoClientNoGrpcAndNoFiles() {
    classes()
        .that()
        .resideInAPackage(API)
        .should()
        .onlyDependOnClassesThat(
            com.tngtech.archunit.base.DescribedPredicate.describe(
                "belong to the vocabulary, Java's own values, texts as streams, Jackson, or Kubernetes' object model",
                c -> c.getPackageName().startsWith("dev.partita.api")
                    || c.getPackageName().startsWith("java.lang")
                    || c.getPackageName().startsWith("java.util")
                    || c.getPackageName().startsWith("java.math")
                    || c.getPackageName().startsWith("java.time")
                    || c.getPackageName().equals("java.nio.charset")
                    || c.isEquivalentTo(InputStream.class) || c.isEquivalentTo(ByteArrayInputStream.class)
                    || c.isEquivalentTo(IOException.class)
                    || c.getPackageName().startsWith("com.fasterxml.jackson")
                    || c.getPackageName().startsWith("org.jspecify")
                    || c.getPackageName().startsWith("io.fabric8.kubernetes.api.model")
                    || c.getPackageName().startsWith("io.fabric8.kubernetes.model")
                    || c.getPackageName().startsWith("io.fabric8.generator.annotation")
                    || c.getPackageName().startsWith("io.fabric8.crd.generator.annotation")
                    || c.isEquivalentTo(CustomResource.class)
                    || c.isPrimitive()
                    || c.isArray()))
        .check(PARTITA);
  }

  @Test
  void cdiIsUsefulAlone() {
    noClasses()
        .that()
        .resideInAPackage(CDI)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(API, ADMISSION, SERVING, PLUGIN, CONTROLLER, CLI, "io.fabric8..", "io.grpc..")
        .check(PARTITA);
  }

  @Test
  void conversionIsPureAndUsefulWithoutAController() {
    noClasses()
        .that()
        .resideInAPackage(ADMISSION)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            SERVING, PLUGIN, CONTROLLER, CLI, CDI, "io.fabric8.kubernetes.client..", "io.grpc..", "java.net..",
            "java.nio.file..", "java.util.concurrent..")
        .check(PARTITA);
  }

  @Test
  void servingKnowsNeitherCardsNorClaims() {
    noClasses()
        .that()
        .resideInAPackage(SERVING)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(API, CDI, ADMISSION, PLUGIN, CONTROLLER, CLI, "io.grpc..")
        .check(PARTITA);
  }

  @Test
  void pluginKnowsNothingOfAllocationNorOfTheCommandLine() {
    noClasses().that().resideInAPackage(PLUGIN).should().dependOnClassesThat()
        .resideInAnyPackage(CONTROLLER, CLI, ADMISSION).check(PARTITA);
  }

  @Test
  void controllerKnowsNothingOfNodesInsides() {
    noClasses()
        .that()
        .resideInAPackage(CONTROLLER)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(PLUGIN, CLI, CDI, "com.sun.jna..", "io.grpc..")
        .check(PARTITA);
  }

  @Test
  void allocatorIsPure() {
    noClasses()
        .that()
        .resideInAnyPackage(
            Stream.of("booking", "request", "match", "place", "index", "reasons", "forecast", "allocate")
                .map(room -> "dev.partita.controller." + room + "..")
                .toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.fabric8.kubernetes.client..", "java.net..", "java.nio.file..",
            "java.util.concurrent.locks..")
        .check(PARTITA);
  }

  @Test
  void decisionsNeedNoServerAndWriteNothing() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.partita.controller.decide..", "dev.partita.controller.preempt..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.fabric8.kubernetes.client..", "dev.partita.controller.edge..",
            "dev.partita.controller.commit..", "dev.partita.controller.events..", "java.net..", "java.nio.file..")
        .orShould()
        .dependOnClassesThat()
        .haveFullyQualifiedName("dev.partita.controller.watch.ClusterView")
        .check(PARTITA);
  }

  /** A module's root is a room like the others: what starts everything, or what everything stands on. */
  @ParameterizedTest
  @ValueSource(
      strings = {"api", "cdi", "admission", "serving", "plugin", "plugin.usage", "controller", "controller.selector",
        "cli",
        "cli.cluster",
        "cli.demo"})
  void roomsOfAModuleFormNoRing(String module) {
    slices().assignedFrom(new Rooms(module)).should().beFreeOfCycles().check(PARTITA);
  }

  @ParameterizedTest
  @ValueSource(strings = {"plugin", "controller", "cli"})
  void architectureMdShowsTheRoomsAsTheyAre(String module) throws IOException {
    String picture = new RoomPicture(PARTITA, new Rooms(module)).mermaid();
    String page = Files.readString(Path.of("..", "ARCHITECTURE.md"));
    assertThat(page.contains(picture)).as("ARCHITECTURE.md has another picture of %s than this:%n%s", module, picture)
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource({"plugin,kubelet-plugin", "controller,dra-controller"})
  void theReadmeOfAModuleSaysOfEveryRoomWhatItHolds(String module, String folder) throws IOException {
    String page = Files.readString(Path.of("..", folder, "README.md"));
    String table = page.substring(page.indexOf("## Rooms")).split("\n## ", 2)[0];
    List<String> told = table.lines().filter(line -> line.startsWith("| `"))
        .flatMap(row -> ROOM.matcher(row.split("\\|", 3)[1]).results()).map(room -> room.group(1)).toList();
    assertThat(told).containsExactlyInAnyOrderElementsOf(new Rooms(module).all(PARTITA));
  }

  @Test
  void namesSayWhatAClassDecidesOrDoes() {
    noClasses()
        .that()
        .resideOutsideOfPackage("k8s..") // generated from kubelet's interfaces
        .should()
        .haveSimpleNameEndingWith("Manager")
        .orShould()
        .haveSimpleNameEndingWith("Helper")
        .orShould()
        .haveSimpleNameEndingWith("Util")
        .orShould()
        .haveSimpleNameEndingWith("Utils")
        .orShould()
        .haveSimpleNameEndingWith("Impl")
        .orShould()
        .haveSimpleNameEndingWith("Info")
        .orShould()
        .resideInAnyPackage("dev.partita..utils..", "dev.partita..util..", "dev.partita..impl..",
            "dev.partita..model..")
        .check(PARTITA);
  }
}
