package dev.partita.controller.web;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import dev.partita.controller.history.History;
import dev.partita.controller.memory.GeneratedApiServer;
import dev.partita.controller.memory.GeneratedCluster.Kind;
import dev.partita.controller.memory.GeneratedCluster;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * Prints how the web page of a cluster of 5,000 nodes with 40,000 cards and 80,000 claims feels in a browser: the
 * controller's informers and its web server, a generated API server behind them, and Debian's Chromium before them, all
 * on one machine.
 */
final class BrowserBench {
  private static final int NODES = 5_000;
  private static final int CARDS = 8;
  private static final int CLAIMS = 80_000;
  private static final int ROUNDS = 7;

  /** What Chromium needs as root and without a desktop; and it asks nobody on the network for anything. */
  private static final List<String> CHROMIUM = List.of("--no-sandbox", "--disable-gpu", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync");

  /** Keeps the longest time for which the page drew no frame; the time that the browser takes for one is in it. */
  private static final String FRAMES =
      """
          window.frames = { longest: 0, from: 0 };
          const next = (now) => {
            if (window.frames.from) { window.frames.longest = Math.max(window.frames.longest, now - window.frames.from); }
            window.frames.from = now;
            requestAnimationFrame(next);
          };
          requestAnimationFrame(next);
          """;

  /** After the next frame: whether there are nodes, and each has that in its name. */
  private static final String SHOWN =
      """
          (text) => new Promise((told) => requestAnimationFrame(() => {
            const nodes = [...document.querySelectorAll('section.node')];
            told(nodes.length > 0 && nodes.every((node) => node.dataset.node.includes(text)));
          }))""";

  private final Page page;
  private final String address;
  private final String api;
  private final IntFunction<ObjectNode> claims;
  private final AtomicLong received = new AtomicLong();
  private final HttpClient http = HttpClient.newHttpClient();

  private BrowserBench(Page page, String address, String api, IntFunction<ObjectNode> claims) {
    this.page = page;
    this.address = address;
    this.api = api;
    this.claims = claims;
    page.addInitScript(FRAMES);
    page.setDefaultTimeout(120_000);
    CDPSession session = page.context().newCDPSession(page);
    session.send("Network.enable");
    session.on("Network.dataReceived", event -> received.addAndGet(event.get("dataLength").getAsLong()));
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Kind> kinds = new GeneratedCluster(NODES, CARDS, 0, CLAIMS, 0, 0).kinds();
    Kind claims = Objects.requireNonNull(kinds.get("resourceclaims"));
    IntFunction<ObjectNode> used = index -> used(claims.object(index), index % 32 + "Gi");
    kinds.put("resourceclaims", new Kind(claims.apiVersion(), claims.kind(), CLAIMS, i -> used.apply(i).toString()));
    try (GeneratedApiServer api = GeneratedApiServer.start(kinds);
        KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withAutoConfigure(false).withMasterUrl(api.address()).build()).build();
        ClusterView view = new ClusterView(client)) {
      view.start();
      try (
          WebServer server = WebServer.start(0, client, view, () -> true,
              _ -> CompletableFuture.failedFuture(new IllegalStateException("nobody decides here")),
              new History(), InstantSource.system());
          Playwright playwright =
              Playwright.create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
          Browser browser = playwright.chromium().launch(
              new BrowserType.LaunchOptions().setExecutablePath(chromium()).setArgs(CHROMIUM).setHeadless(true))) {
        Page page = browser.newContext(new Browser.NewContextOptions().setViewportSize(1280, 900)).newPage();
        new BrowserBench(page, "http://127.0.0.1:" + server.port() + "/", api.address(), used).print();
      }
    }
    System.exit(0); // the HTTP clients' threads
  }

  private static Path chromium() {
    return Stream.of(System.getenv("PATH").split(":", -1)).map(folder -> Path.of(folder, "chromium"))
        .filter(Files::isExecutable).findFirst()
        .orElseThrow(() -> new IllegalStateException("there is no chromium in the PATH"));
  }

  private static ObjectNode used(ObjectNode claim, String memory) {
    ObjectNode result = (ObjectNode) claim.at("/status/allocation/devices/results/0");
    ObjectNode device = (ObjectNode) claim.at("/status/devices/0");
    for (String field : List.of("pool", "device", "shareID")) {
      device.set(field, result.path(field));
    }
    device.putObject("data").put("memoryUsed", memory).put("coresUsed", "20");
    return claim;
  }

  /**
   * What one thing took.
   *
   * @param millis from when it was done until it was on the page
   * @param frame the longest time without a new frame meanwhile, in ms
   * @param bytes that the browser received
   */
  private record Taken(double millis, double frame, long bytes) {}

  /** Something that somebody does, until it is seen. */
  private interface Deed {
    void run(int round) throws Exception;
  }

  private void print() throws Exception {
    System.out.println("| what | ms, median | longest frame, ms, median | bytes, median |");
    System.out.println("| --- | ---: | ---: | ---: |");
    row("open the page, until its first rows", _ -> {
      page.navigate("about:blank");
      page.navigate(address + "#token=viewer");
      rows();
    });
    row("the next 50 nodes", round -> {
      page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Next")).click();
      page.getByText("page " + (round + 2) + " of 100,").waitFor();
    });
    page.navigate(address + "#/nodes");
    rows();
    row("type into the search, until the one node is there", _ -> find("node"),
        round -> find("node-4" + (100 + round)));
    row("type into the search, until 50 other nodes are there", round -> find("node-4" + (100 + round)),
        round -> find("node-" + (1 + round % 4)));
    find("node");
    page.navigate(address + "#/nodes?sort=allocated");
    rows();
    row("scroll through 50 nodes, down and up", _ -> scroll());
    page.navigate(address + "#/nodes");
    rows();
    row("a claim's use changes, until it is shown", this::change);
    row("the page of claims", _ -> {
      page.navigate(address + "#/quotas");
      page.getByText("There is no GpuQuota").waitFor();
    }, _ -> {
      page.navigate(address + "#/claims");
      page.locator("tbody tr").nth(49).waitFor();
    });
  }

  private void rows() {
    page.locator("section.node").nth(49).waitFor();
  }

  /** Until the rows there have that in their names, whatever was there before. */
  private void find(String text) {
    page.getByRole(AriaRole.SEARCHBOX).fill(text);
    while (!Boolean.TRUE.equals(page.evaluate(SHOWN, text))) {}
    if (text.length() < "node-4100".length()) {
      rows();
    }
  }

  /** Down and up again, as a wheel does. */
  private void scroll() {
    double end = ((Number) page.evaluate("document.documentElement.scrollHeight")).doubleValue();
    page.mouse().move(600, 500);
    for (int direction : List.of(1, -1)) {
      for (double at = 0; at < end; at += 900) {
        page.mouse().wheel(0, direction * 900);
        page.evaluate("new Promise((drawn) => requestAnimationFrame(drawn))");
      }
    }
  }

  /** The first node's first claim. */
  private void change(int round) throws Exception {
    ObjectNode claim = used(claims.apply(0), (40 + round) + "Gi");
    String name = claim.at("/metadata/name").asText();
    HttpResponse<String> answer = http.send(
        HttpRequest.newBuilder(URI.create(api + "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/" + name))
            .PUT(HttpRequest.BodyPublishers.ofString(claim.toString())).build(),
        HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException(answer.body());
    }
    page.locator("section[data-node='node-0'] ul.parts li").getByText((40 + round) + " GiB used").waitFor();
  }

  private void row(String what, Deed deed) throws Exception {
    row(what, _ -> {}, deed);
  }

  /** @param before what is not measured */
  private void row(String what, Deed before, Deed deed) throws Exception {
    List<Taken> all = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      before.run(round);
      page.evaluate("window.frames && (window.frames.longest = 0)");
      long had = received.get();
      long begin = System.nanoTime();
      deed.run(round);
      double millis = (System.nanoTime() - begin) / 1e6;
      page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
      double frame = ((Number) page.evaluate("window.frames.longest")).doubleValue();
      all.add(new Taken(millis, frame, received.get() - had));
    }
    System.out.printf(Locale.ROOT, "| %s | %.0f | %.0f | %.0f |%n", what,
        median(all.stream().map(Taken::millis).toList()), median(all.stream().map(Taken::frame).toList()),
        median(all.stream().map(taken -> (double) taken.bytes()).toList()));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
