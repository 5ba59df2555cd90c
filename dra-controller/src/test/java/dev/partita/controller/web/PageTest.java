package dev.partita.controller.web;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Clock;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.PaperFleet;
import dev.partita.controller.fleet.WaitingPod;
import dev.partita.controller.web.view.ClaimsView;
import dev.partita.controller.web.view.NodesView;
import dev.partita.controller.web.view.PaperSight;
import dev.partita.controller.web.view.PodsView;
import dev.partita.controller.web.view.Query;
import dev.partita.serving.access.BearerToken;
import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The page's own program in a browser, before a server that says what a test has it say. */
class PageTest {
  /** What Chromium needs as root and without a desktop; and it asks nobody on the network for anything. */
  private static final List<String> CHROMIUM = List.of("--no-sandbox", "--disable-gpu", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync");

  private static final Query ALL = Query.of(Map.of());
  private static final Duration POLL = Duration.ofMillis(50);

  private static Optional<Playwright> playwright = Optional.empty();
  private static Optional<Browser> browser = Optional.empty();

  private final Assets assets = new Assets();
  private final Map<String, Shown> said = new ConcurrentHashMap<>(); // by token and view
  private final AtomicInteger streams = new AtomicInteger();
  private final AtomicInteger opened = new AtomicInteger(); // streams, also those that have ended
  private final AtomicInteger heartbeats = new AtomicInteger();
  private volatile boolean beats;
  private volatile boolean endsUnanswered;
  private HttpListener server;
  private Page page;

  /** Debian's package chromium has the program; CI installs it. */
  @BeforeAll
  static void startBrowser() {
    Optional<Path> program = Stream.of(System.getenv("PATH").split(":", -1))
        .map(folder -> Path.of(folder, "chromium")).filter(Files::isExecutable).findFirst();
    assumeTrue(program.isPresent() || "1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE")), "there is no chromium");
    Playwright made =
        Playwright.create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    playwright = Optional.of(made);
    browser = Optional.of(made.chromium().launch(new BrowserType.LaunchOptions()
        .setExecutablePath(program.orElseThrow()).setArgs(CHROMIUM).setHeadless(true)));
  }

  @AfterAll
  static void endBrowser() {
    browser.ifPresent(Browser::close);
    playwright.ifPresent(Playwright::close);
  }

  @BeforeEach
  void open() throws IOException {
    server = HttpListener.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "page", 64,
        Thread.ofVirtual().factory(), Optional.empty(), this::answer);
    page = browser.orElseThrow().newContext().newPage();
  }

  @AfterEach
  void close() {
    page.context().close();
    server.close();
  }

  private HttpAnswer answer(Exchange exchange) {
    Optional<HttpAnswer> asset = assets.at(exchange.path());
    if (asset.isPresent()) {
      return asset.get();
    }
    String asked = BearerToken.of(exchange).orElse("") + " " + exchange.path().replaceFirst("^/api/stream/", "");
    if (!said.containsKey(asked)) {
      return HttpAnswer.text(404, "nobody said anything of " + asked);
    }
    streams.incrementAndGet();
    opened.incrementAndGet();
    return new HttpAnswer(200, "text/event-stream; charset=utf-8",
        new HttpAnswer.Body.Stream(sink -> tell(asked, sink), streams::decrementAndGet), Map.of());
  }

  private void tell(String asked, HttpAnswer.Sink sink) throws IOException {
    if (endsUnanswered) {
      throw new IOException("it took too long");
    }
    String last = "";
    do {
      String now = event(Objects.requireNonNull(said.get(asked)));
      if (!now.equals(last)) {
        sink.send(now);
      }
      last = now;
      if (beats) {
        sink.send(":\n\n");
        heartbeats.incrementAndGet();
      }
    } while (!sink.awaitGone(POLL));
  }

  private static String event(Shown shown) {
    try {
      return "event: " + (shown instanceof Shown.As ? "view" : "problem") + "\ndata: "
          + new ObjectMapper().writeValueAsString(shown) + "\n\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private void say(String token, String view, Shown shown) {
    said.put(token + " " + view, shown);
  }

  private static Shown nodes(String name) {
    return new Shown.As(NodesView.of(Fleet.of(List.of(PaperFleet.node(name, 1)), List.of()), ALL,
        PaperSight.EVERYTHING), true);
  }

  private void show(String hash) {
    page.navigate("http://127.0.0.1:" + server.port() + "/" + hash);
  }

  private Locator main() {
    return page.locator("main");
  }

  @Test
  void whoShowsAnotherTokenSeesNothingOfWhatTheOneBeforeShowed() {
    say("first", "nodes", nodes("node-of-first"));
    say("second", "nodes", Shown.Not.allowed("second", "list gpunodes"));
    show("#token=first");
    assertThat(main()).containsText("node-of-first");
    page.getByText("Forget the token").click();
    await("nothing more is asked for with it").until(() -> streams.get() == 0);
    page.locator("textarea").fill("second");
    page.getByText("Show the cluster").click();
    assertThat(main()).containsText("second may not list gpunodes");
    assertThat(main()).not().containsText("node-of-first");
  }

  @Test
  void whatOneMayNotSeeAnyMoreGoesFromThePage() {
    say("first", "nodes", nodes("node-of-first"));
    show("#token=first");
    assertThat(main()).containsText("node-of-first");
    say("first", "nodes", Shown.Not.allowed("first", "list gpunodes"));
    assertThat(main()).containsText("first may not list gpunodes");
    assertThat(main()).not().containsText("node-of-first");
  }

  @Test
  void theOrderThatIsChosenIsThatOfTheOpenView() {
    say("any", "nodes", nodes("node-0"));
    say("any", "claims", new Shown.As(ClaimsView.of(Fleet.of(List.of(), List.of()), ALL, PaperSight.EVERYTHING),
        true));
    show("#token=any");
    Locator sort = page.getByLabel("Sort");
    sort.selectOption("allocated");
    assertThat(page).hasURL(Pattern.compile(".*sort=allocated"));
    page.locator("nav a[href='#/claims']").click();
    assertThat(page.locator("nav a[href='#/claims'][aria-current=page]")).isVisible();
    assertThat(sort).hasValue("name");
    page.goBack();
    assertThat(sort).hasValue("allocated");
    page.goBack();
    assertThat(sort).hasValue("name");
  }

  /** The server says something only when something has changed. */
  @Test
  void howLongAPodWaitsGrowsWhileNothingChanges() {
    say("any", "pods", new Shown.As(PodsView.of(List.of(new WaitingPod("team", "huge", "2026-01-01T00:00:00Z",
        "Unallocatable", "no card")), ALL, PaperSight.EVERYTHING), true));
    page.clock().install(new Clock.InstallOptions().setTime("2026-01-01T00:03:10Z"));
    show("#token=any");
    page.locator("nav a[href='#/pods']").click();
    assertThat(main()).containsText("3 min");
    page.clock().fastForward("05:00");
    assertThat(main()).containsText("8 min");
  }

  /** {@code partita web --port} prints it again when the token before is over. */
  @Test
  void anAddressWithANewTokenIsTakenInATabThatIsOpen() {
    say("first", "nodes", nodes("node-of-first"));
    say("second", "nodes", nodes("node-of-second"));
    show("#token=first");
    assertThat(main()).containsText("node-of-first");
    show("#token=second");
    assertThat(main()).containsText("node-of-second");
    assertThat(page).hasURL(Pattern.compile(".*/#/nodes"));
    assertThat(page).hasTitle("Nodes · Partita");
  }

  /** What is copied from a terminal has its lines' ends in it. */
  @Test
  void aTokenThatWasCopiedInSeveralLinesIsOne() {
    say("longtoken", "nodes", nodes("node-0"));
    show("");
    page.locator("textarea").fill("long\ntok en\n");
    page.getByText("Show the cluster").click();
    assertThat(main()).containsText("node-0");
  }

  @Test
  void aTokenThatIsTooLongForTheServerIsSaidToBe() {
    show("");
    page.locator("textarea").fill("x".repeat(200 << 10));
    page.getByText("Show the cluster").click();
    assertThat(main()).containsText("such as a token");
  }

  /** A document's quotation marks come with what is copied from it. */
  @Test
  void whatNoRequestCanCarryIsSaidToBeNoToken() {
    show("");
    page.locator("textarea").fill("\u201ctoken\u201d");
    page.getByText("Show the cluster").click();
    assertThat(main()).containsText("This is no token");
    assertThat(page.locator("textarea")).isVisible();
  }

  /** A proxy may keep a connection whose other end has gone. */
  @Test
  void aStreamThatIsSilentForAMinuteIsOpenedAnewAndThatIsSaid() {
    say("any", "nodes", nodes("node-0"));
    page.clock().install(new Clock.InstallOptions().setTime("2026-01-01T00:00:00Z"));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    page.clock().pauseAt("2026-01-01T00:00:50Z");
    beats = true;
    await().until(() -> heartbeats.get() > 5);
    beats = false;
    page.clock().fastForward("00:50");
    assertThat(page.getByRole(AriaRole.STATUS)).hasText("live");
    assertThat(main()).not().containsText("Nothing has come");
    page.clock().fastForward("01:00"); // a heartbeat may have been under way when the clock was put forward first
    assertThat(page.getByRole(AriaRole.STATUS)).hasText("not connected");
    assertThat(main()).containsText("Nothing has come from the controller for a minute; asking anew");
    assertThat(main()).containsText("node-0");
    page.clock().fastForward("00:04");
    await("another stream").until(() -> opened.get() == 2 && streams.get() == 1);
    assertThat(page.getByRole(AriaRole.STATUS)).hasText("live");
    assertThat(main()).not().containsText("Nothing has come");
  }

  /** As the server ends what takes longer than half a minute. */
  @Test
  void aFirstViewThatIsNotAnsweredIsSaidWithWhatToDo() {
    say("any", "nodes", nodes("node-0"));
    endsUnanswered = true;
    show("#token=any");
    assertThat(main()).containsText("No answer from the controller yet; asking anew. If it stays so, see whether");
    endsUnanswered = false;
    assertThat(main()).containsText("node-0");
    assertThat(main()).not().containsText("No answer");
  }

  /** What is within an image is not told to screen readers (WAI-ARIA 1.2, Children Presentational). */
  @Test
  void theClaimsOfACardsBarAreLinksInAGroup() {
    say("any", "nodes", new Shown.As(NodesView.of(Fleet.of(List.of(PaperFleet.node("node-0", 1)),
        List.of(PaperFleet.share("team", "train", "node-0", 0, 20, 10))), ALL, PaperSight.EVERYTHING), true));
    show("#token=any");
    Locator bar = page.getByRole(AriaRole.GROUP, new Page.GetByRoleOptions().setName("20 GiB of 140 GiB held"));
    assertThat(bar.getByRole(AriaRole.LINK)).hasAccessibleName("team/train: 20 GiB, 10 % of cores");
  }

  @Test
  void aSearchThatIsLeftAtOnceIsThatOfItsViewAndOfNoOther() {
    say("any", "nodes", nodes("node-0"));
    say("any", "claims", new Shown.As(ClaimsView.of(Fleet.of(List.of(), List.of()), ALL, PaperSight.EVERYTHING),
        true));
    page.clock().install(new Clock.InstallOptions().setTime("2026-01-01T00:00:00Z"));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    page.clock().pauseAt("2026-01-01T00:00:50Z");
    Locator search = page.getByLabel("Search");
    search.fill("node");
    page.locator("nav a[href='#/claims']").click();
    assertThat(page.locator("nav a[href='#/claims'][aria-current=page]")).isVisible();
    assertThat(search).hasValue("");
    page.goBack();
    assertThat(search).hasValue("node");
    assertThat(page).hasURL(Pattern.compile(".*/#/nodes\\?q=node"));
  }

  @Test
  void anAddressWhoseTokenCannotBeDecodedIsAnsweredToo() {
    say("50%", "nodes", nodes("node-0"));
    show("#token=50%");
    assertThat(main()).containsText("node-0");
  }

  /** A tab stays open while the controller gets another version. */
  @Test
  void aViewThatThePageCannotReadIsSaidToBeOfAnotherVersion() {
    say("any", "nodes", nodes("node-0"));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    say("any", "nodes", new Shown.As(Map.of("totals", Map.of(), "racks", List.of()), true));
    assertThat(main()).containsText("the controller has another version now. Load the page anew");
    assertThat(main()).not().containsText("node-0");
    assertThat(page.getByRole(AriaRole.STATUS)).hasText("not connected");
    say("any", "nodes", nodes("node-1"));
    page.reload();
    assertThat(main()).containsText("node-1");
  }

  /** A browser opens six connections to a server at most, and each tab that follows a view keeps one. */
  @Test
  void aTabThatNobodySeesFollowsNothingUntilItIsSeenAgain() {
    say("any", "nodes", nodes("node-0"));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    setHidden(true);
    await("its stream's end").until(() -> streams.get() == 0);
    say("any", "nodes", nodes("node-1"));
    setHidden(false);
    assertThat(main()).containsText("node-1");
    assertThat(page.getByRole(AriaRole.STATUS)).hasText("live");
  }

  /** As a browser does it when another tab is chosen; without a desktop it takes every tab for seen. */
  private void setHidden(boolean hidden) {
    page.evaluate("hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        + " document.dispatchEvent(new Event('visibilitychange')); }", hidden);
  }

  @Test
  void aSearchThatFindsNothingDoesNotSayThatThereIsNothing() {
    Query query = Query.of(Map.of("q", "train"));
    say("any", "nodes", nodes("node-0"));
    say("any", "pods", new Shown.As(PodsView.of(List.of(new WaitingPod("team", "huge", "2026-01-01T00:00:00Z",
        "Unallocatable", "no card")), query, PaperSight.EVERYTHING), true));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    show("#/pods?q=train");
    assertThat(main()).containsText("Nothing that you may see matches the search");
    assertThat(main()).not().containsText("No pod that you may see waits");
  }

  /** Whoever may write a claim chooses the names of its annotations. */
  @Test
  void anAnnotationDoesNotTakeThePlaceOfWhatTheClaimIs() {
    say("any", "nodes", nodes("node-0"));
    say("any", "claim/team/train", new Shown.As(new ClaimDetails.View("team", "train", "2026-01-01T00:00:00Z",
        Map.of("created", "long ago"), List.of(), List.of(), List.of()), true));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    show("#/claim/team/train");
    assertThat(main()).containsText("long ago");
    assertThat(main()).containsText("2026-01-01T00:00:00Z");
  }

  /** A name has up to 253 characters, and need not have a place where a browser breaks lines by itself. */
  @Test
  void longNamesDoNotMakeThePageWiderThanAPhone() {
    say("any", "nodes", nodes("node-0"));
    say("any", "claim/team/train", new Shown.As(new ClaimDetails.View("team", "t".repeat(253), "2026-01-01T00:00:00Z",
        Map.of("n".repeat(63), "v".repeat(200)), List.of("pods/" + "p".repeat(253)), List.of(), List.of()), true));
    page.setViewportSize(360, 740);
    show("#token=any");
    assertThat(main()).containsText("node-0");
    show("#/claim/team/train");
    assertThat(main()).containsText("tttt");
    Assertions.assertThat(page.evaluate("document.documentElement.scrollWidth - innerWidth")).isEqualTo(0);
  }

  @Test
  void amountsOfMemoryAreSaidToATenthOfTheirUnit() {
    say("any", "nodes", nodes("node-0"));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    Map.of(0L, "0 B", 1023L, "1023 B", (1L << 30) - 1, "1 GiB", 23L << 29, "11.5 GiB", 140L << 30, "140 GiB", 3L << 39,
        "1.5 TiB")
        .forEach((amount, words) -> Assertions
            .assertThat(page.evaluate("async amount => (await import('/parts.js')).bytes(amount)", (double) amount))
            .isEqualTo(words));
  }

  @Test
  void aConditionIsMarkedWhereSomethingIsWrongByIt() {
    say("any", "nodes", nodes("node-0"));
    ClaimDetails.Device device = new ClaimDetails.Device("gpu", "gpu.partita.dev", "node-0", "gpu-0-shared", Map.of(),
        List.of(condition("WithinMemoryLimit", "False"), condition("MemoryLent", "False"),
            condition("InstanceFailed", "True"), condition("Ready", "True")));
    say("any", "claim/team/train", new Shown.As(new ClaimDetails.View("team", "train", "2026-01-01T00:00:00Z",
        Map.of(), List.of(), List.of(device), List.of()), true));
    show("#token=any");
    assertThat(main()).containsText("node-0");
    show("#/claim/team/train");
    Locator marked = page.locator("tbody tr").filter(new Locator.FilterOptions().setHas(page.locator("b.bad")));
    assertThat(marked).hasCount(2);
    assertThat(marked).containsText(new String[]{"WithinMemoryLimit", "InstanceFailed"});
  }

  private static ClaimDetails.Condition condition(String type, String status) {
    return new ClaimDetails.Condition(type, status, "Because", "so it is", "2026-01-01T00:00:00Z");
  }
}
