package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.ElementHandle;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnChangedNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OpenPage;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The web page on a real cluster, in a real browser. */
@OnRealCluster
@NeedsSteadyController
@Execution(ExecutionMode.SAME_THREAD) // one browser at a time: each takes a processor
class WebIT {
  private static Path chromium = Path.of("chromium");

  /** Debian's package chromium has the program; CI installs it. */
  @BeforeAll
  static void findChromium() {
    Optional<Path> program = OpenPage.chromium();
    assumeTrue(program.isPresent() || "1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE")), "there is no chromium");
    chromium = program.orElseThrow();
  }

  private static OpenPage open(RealCluster cluster, String... options) throws Exception {
    return OpenPage.open(cluster, chromium, OpenPage.Size.DESK, ColorScheme.LIGHT, options);
  }

  /** Waits until the search has left one node, with that claim. */
  private static void awaitOnly(OpenPage open, String node, String claim) {
    open.page().locator("section.node:only-of-type[data-node='" + node + "'] ul.parts").getByText(claim).first()
        .waitFor();
  }

  /** Other tests make nodes, too, and remove them. */
  private static void awaitTotals(RealCluster cluster, Page page) {
    await("the fleet's totals").pollInSameThread().atMost(Workspace.PATIENCE).untilAsserted(() -> {
      List<GenericKubernetesResource> nodes =
          cluster.client().genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").list().getItems();
      int cards = nodes.stream().map(node -> node.<Integer>get("status", "gpuCount"))
          .mapToInt(count -> Objects.requireNonNullElse(count, 0)).sum();
      assertThat(page.locator(".figures").innerText().lines())
          .anyMatch(line -> line.endsWith("of " + nodes.size())).anyMatch(line -> line.endsWith("of " + cards));
    });
  }

  @Test
  void whatIsOnThePageIsWhatTheApiSaysAndFollowsIt(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    PodUnderTest pod =
        workspace.pod("held", node, Ask.share("8Gi").cores(25), "exec partita-probe hold 3Gi").awaitLine("holding");
    String claim = workspace.namespace() + "/" + pod.claim().name();
    try (OpenPage open = open(cluster)) {
      Page page = open.page();
      page.getByRole(AriaRole.SEARCHBOX).fill(workspace.namespace());
      Locator box = page.locator("section[data-node='" + node + "']");
      awaitOnly(open, node, claim); // else the click below may meet a page that moves
      assertThat(box.locator("ul.parts li").filter(new Locator.FilterOptions().setHasText(claim)).innerText())
          .contains("8 GiB", "25 % of cores");
      awaitTotals(cluster, page);
      assertThat(page.url()).as("no token in the address").doesNotContain("token");

      box.locator("ul.parts").getByText(claim).click();
      open.awaitText("Claim " + claim);
      open.awaitText("pods/held");
      open.awaitText("Allocated");
      open.awaitText("Healthy");
      assertThat(page.locator("main").innerText()).doesNotContain("proposed-allocation");

      open.show("claims?q=" + workspace.namespace());
      open.awaitText(claim);
      pod.deleteAndAwait();
      open.awaitText("Nothing that you may see matches the search.");
      open.assertClean();
    }
  }

  @Test
  void aLinkStaysTheClaimsWhenAnotherComesBeforeIt(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    String second = workspace.pod("second", node, Ask.share("1Gi"), "exec sleep 600").awaitRunning().claim().name();
    try (OpenPage open = open(cluster)) {
      open.show("claims?q=" + workspace.namespace());
      open.awaitText(second);
      Locator link = open.page().locator("main").getByText(second);
      ElementHandle asItIs = link.elementHandle();
      asItIs.focus();
      String first = workspace.pod("first", node, Ask.share("1Gi"), "exec sleep 600").awaitRunning().claim().name();
      open.awaitText(first);
      assertThat(asItIs.innerText()).isEqualTo(workspace.namespace() + "/" + second);
      open.page().keyboard().press("Enter");
      open.awaitText("Claim " + workspace.namespace() + "/" + second);
      open.assertClean();
    }
  }

  /** The page searches a moment after the last key. */
  @Test
  void aLinkThatIsFollowedBeforeASearchBeginsIsNotTakenBack(RealCluster cluster) throws Exception {
    try (OpenPage open = open(cluster)) {
      open.page().locator("section.node").first().waitFor();
      open.page().evaluate("""
          () => {
            const search = document.querySelector('input[type=search]');
            search.value = 'h200';
            search.dispatchEvent(new Event('input', { bubbles: true }));
            for (const end = performance.now() + 500; performance.now() < end;);
            document.querySelector('nav a[href="#/claims"]').click();
          }""");
      open.page().locator("nav a[href='#/claims'][aria-current=page]").waitFor();
      assertThat(open.page().url()).endsWith("#/claims");
      open.assertClean();
    }
  }

  @Test
  @OnChangedNode
  void aCardThatIsIllIsShownAsSuchAndWhatItsClaimsUse(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.changedNode();
    PodUnderTest pod =
        workspace.pod("ill", node, Ask.share("8Gi").onCardOf("gpu-3"), "exec partita-probe hold 3Gi")
            .awaitLine("holding");
    try (OpenPage open = open(cluster)) {
      open.show("nodes?q=" + workspace.namespace());
      Locator card = open.page().locator("section[data-node='" + node + "'] .card")
          .filter(new Locator.FilterOptions().setHasText(pod.claim().name()));
      card.locator("ul.parts").getByText("3.3 GiB used").waitFor();
      cluster.files().simulate(node, "xid --gpu 3 --xid 95");
      try {
        card.locator("b.bad").getByText("Unhealthy").waitFor();
        card.locator("p.bad").getByText("XID 95").waitFor();
        open.show("claim/" + workspace.namespace() + "/" + pod.claim().name());
        open.awaitText("XidError");
        open.awaitText("3.3 GiB of 8 GiB used");
        open.assertClean();
      } finally {
        pod.deleteAndAwait(); // a card that is in use cannot be reset
        cluster.files().simulate(node, "reset --gpu 3");
      }
    }
  }

  @Test
  void aPodThatWaitsIsExplainedCardByCard(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    workspace.pod("huge", node, Ask.share("900Gi"), "exec sleep 600");
    try (OpenPage open = open(cluster)) {
      open.show("pods?q=" + workspace.namespace());
      open.awaitText(workspace.namespace() + "/huge");
      open.page().getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(workspace.namespace() + "/huge"))
          .click();
      open.awaitText("Waits for ");
      Locator why = open.page().locator("section.node").filter(new Locator.FilterOptions().setHasText(node));
      why.waitFor();
      assertThat(why.innerText()).contains("gpu-0", "has 139.8 GiB, asked 900 GiB");
      Locator sections = open.page().locator("section.node");
      assertThat(sections.first().innerText()).as("whose cards were looked at").contains(node);
      List<String> others = cluster.nodes().stream().filter(each -> !each.equals(node)).toList();
      assertThat(sections.last().innerText()).as("those that the pod does not select")
          .contains(others.size() + " nodes", "the pod's nodeSelector does not match").contains(others);
      assertThat(open.page().locator("main").innerText()).containsOnlyOnce("asks 900 GiB");
      open.assertClean();
    }
  }

  @Test
  void aTenantSeesHisOwnClaimsAndNobodyElses(
      RealCluster cluster,
      Workspace workspace,
      @TempDir Path folder) throws Exception {
    String node = cluster.quietNodes().getLast();
    workspace.pod("mine", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
    try (Workspace others = workspace.another(); Tenant tenant = Tenant.in(workspace)) {
      others.pod("theirs", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
      Path token = Files.writeString(folder.resolve("token"), tenant.client().getConfiguration().getOauthToken());
      try (OpenPage open = open(cluster, "--token-file", token.toString())) {
        open.awaitText("may not list gpunodes");
        open.show("claims");
        open.awaitText(workspace.namespace() + "/");
        assertThat(open.page().locator("main").innerText()).doesNotContain(others.namespace());
        open.show("claim/" + others.namespace() + "/any");
        open.awaitText("may not list resourceclaims.resource.k8s.io in namespace " + others.namespace());
      }
    }
  }

  @Test
  void aQuotaSaysWhichNamespacesHaveWhatOfIt(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    try (Workspace other = workspace.another()) {
      workspace.createInCluster(
          """
              apiVersion: gpu.partita.dev/v1alpha1
              kind: GpuQuota
              metadata: {name: %1$s}
              spec:
                namespaceSelector:
                  matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [%1$s, %2$s]}]
                limits: [{name: all, guaranteed: {memory: 64Gi}}]
              """
              .formatted(workspace.namespace(), other.namespace()));
      workspace.pod("large", node, Ask.share("12Gi"), "exec sleep 600").awaitRunning();
      other.pod("small", node, Ask.share("4Gi"), "exec sleep 600").awaitRunning();
      try (OpenPage open = open(cluster)) {
        open.show("quotas?q=" + workspace.namespace());
        open.awaitText("16 GiB of 64 GiB");
        assertThat(open.page().locator("main ul.plain").innerText().lines())
            .containsExactly(workspace.namespace() + " 12 GiB", other.namespace() + " 4 GiB");
        open.assertClean();
      }
    }
  }

  @Test
  void aTokenThatNobodyKnowsLeadsToTheFormWithOneLine(RealCluster cluster, @TempDir Path folder) throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "made-up");
    try (OpenPage open = open(cluster, "--token-file", token.toString())) {
      open.awaitText("the API server does not know this token");
      assertThat(open.page().getByRole(AriaRole.TEXTBOX).isVisible()).isTrue();
    }
  }

  @Test
  void theKeyboardReachesEveryViewAndEveryClaim(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    PodUnderTest pod = workspace.pod("held", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
    String claim = workspace.namespace() + "/" + pod.claim().name();
    try (OpenPage open = open(cluster)) {
      Page page = open.page();
      page.getByRole(AriaRole.SEARCHBOX).fill(workspace.namespace());
      awaitOnly(open, node, claim);
      StringBuilder reached = new StringBuilder();
      for (int i = 0; i < 40; i++) {
        page.keyboard().press("Tab");
        reached.append(page.evaluate("(document.activeElement.getAttribute('aria-label') || "
            + "document.activeElement.textContent) + '\\n'"));
      }
      assertThat(reached.toString())
          .contains("To the content", "Nodes", "Claims", "Waiting pods", "Quotas", "Last day", claim);
    }
  }

  /** The documents show these; they are made anew with {@code -Dpartita.docs.write=true}. */
  @Test
  void picturesAreMadeForTheDocuments(RealCluster cluster, Workspace workspace) throws Exception {
    String node = cluster.quietNodes().getLast();
    PodUnderTest train = workspace.pod("train", node, Ask.share("40Gi").cores(50), "exec partita-probe hold 25Gi")
        .awaitLine("holding");
    workspace.pod("notebook", node, Ask.share("16Gi").cores(10), "exec partita-probe hold 2Gi").awaitLine("holding");
    Path folder = Files.createDirectories(Boolean.getBoolean("partita.docs.write")
        ? cluster.home().resolve("docs/operate/images")
        : cluster.target().resolve("pictures"));
    try (OpenPage open = OpenPage.open(cluster, chromium, OpenPage.Size.DESK, ColorScheme.DARK)) {
      open.page().getByRole(AriaRole.SEARCHBOX).fill(workspace.namespace());
      awaitOnly(open, node, "train");
      open.picture(folder.resolve("web-dark.png"));
    }
    try (OpenPage open = OpenPage.open(cluster, chromium, OpenPage.Size.PHONE, ColorScheme.LIGHT)) {
      open.page().getByRole(AriaRole.SEARCHBOX).fill(workspace.namespace());
      awaitOnly(open, node, "train");
      assertThat(open.page().evaluate("document.documentElement.scrollWidth <= innerWidth")).as("nothing sticks out")
          .isEqualTo(true);
      open.picture(folder.resolve("web-phone.png"));
    }
    try (OpenPage open = open(cluster)) {
      open.page().getByRole(AriaRole.SEARCHBOX).fill(workspace.namespace());
      awaitOnly(open, node, "train");
      open.picture(folder.resolve("web.png"));
      open.show("claim/" + workspace.namespace() + "/" + train.claim().name());
      open.awaitText("memoryUsed");
      open.picture(folder.resolve("web-claim.png"));
      workspace.pod("too-large", node, Ask.share("200Gi"), "exec sleep 600");
      open.show("pod/" + workspace.namespace() + "/too-large");
      open.awaitText("Waits for ");
      open.picture(folder.resolve("web-waiting.png"));
      open.show("history");
      open.awaitText("Memory");
      open.picture(folder.resolve("web-history.png"));
    }
    assertThat(folder.resolve("web.png")).isNotEmptyFile();
  }
}
