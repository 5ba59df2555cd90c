package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.TimeoutError;
import com.microsoft.playwright.options.ColorScheme;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The web page in a real browser, opened as a user opens it: {@code partita web}, and its address in Chromium. */
public final class OpenPage implements AutoCloseable {
  private static final double PATIENCE = Duration.ofSeconds(60).toMillis();

  /** What Debian's Chromium needs as root and without a desktop; and it asks nobody on the network for anything. */
  private static final List<String> ARGUMENTS = List.of("--no-sandbox", "--disable-gpu", "--disable-quic",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync");

  private final Process command;
  private final Playwright playwright;
  private final Browser browser;
  private final Page page;
  private final String address;
  private final List<String> problems = new ArrayList<>();
  private final List<String> elsewhere = new ArrayList<>();

  private OpenPage(
      Process command,
      Playwright playwright,
      Path chromium,
      String address,
      Size size,
      ColorScheme scheme) {
    this.command = command;
    this.playwright = playwright;
    this.address = address;
    this.browser =
        playwright.chromium()
            .launch(new BrowserType.LaunchOptions().setExecutablePath(chromium).setArgs(ARGUMENTS).setHeadless(true));
    this.page =
        browser.newContext(new Browser.NewContextOptions().setViewportSize(size.width(), size.height())
            .setColorScheme(scheme)).newPage();
    page.setDefaultTimeout(PATIENCE);
    page.onConsoleMessage(message -> {
      if (message.type().equals("error")) {
        problems.add(message.text());
      }
    });
    page.onPageError(problems::add);
    page.onRequest(request -> {
      if (!URI.create(request.url()).getHost().equals("127.0.0.1")) {
        elsewhere.add(request.url());
      }
    });
  }

  /** Of a window, in pixels. */
  public record Size(int width, int height) {
    public static final Size DESK = new Size(1280, 900);
    public static final Size PHONE = new Size(390, 844);
  }

  /** The program, if this machine has it: Debian's package chromium. */
  public static Optional<Path> chromium() {
    return Stream.of(System.getenv("PATH").split(":", -1)).map(folder -> Path.of(folder, "chromium"))
        .filter(Files::isExecutable).findFirst();
  }

  /**
   * Runs {@code partita web} and opens what it prints.
   *
   * @param options of the command
   */
  public static OpenPage open(RealCluster cluster, Path chromium, Size size, ColorScheme scheme, String... options)
      throws IOException {
    List<String> line = new ArrayList<>(List.of(cluster.home().resolve("kubectl-partita").toString(), "web",
        "--no-open"));
    line.addAll(List.of(options));
    Process command = cluster.command().start(line, cluster.kubeconfigEnvironment());
    try {
      BufferedReader out =
          new BufferedReader(new InputStreamReader(command.getInputStream(), StandardCharsets.UTF_8));
      String address = out.readLine();
      assertThat(address).as("partita web prints the page's address").startsWith("http://127.0.0.1:");
      Playwright playwright =
          Playwright.create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
      OpenPage opened = new OpenPage(command, playwright, chromium, address, size, scheme);
      opened.page.navigate(address);
      return opened;
    } catch (RuntimeException | IOException | AssertionError e) {
      command.destroy();
      throw e;
    }
  }

  /** For what is done with it. */
  public Page page() {
    return page;
  }

  /** Goes to a view, as its link does. */
  public void show(String view) {
    page.navigate(address.substring(0, address.indexOf('#')) + "#/" + view);
  }

  /** Waits until the page's content has the text; an error says what it has instead. */
  public void awaitText(String text) {
    try {
      page.locator("main").getByText(text).first().waitFor();
    } catch (TimeoutError e) {
      throw new AssertionError("the page at " + page.url() + " has no \"" + text + "\" but: "
          + page.locator("main").innerText(), e);
    }
  }

  /** A picture of all of it. */
  public void picture(Path file) {
    page.screenshot(new Page.ScreenshotOptions().setPath(file).setFullPage(true));
  }

  /** That nothing was written to the console as an error, and nothing asked for on another host. */
  public void assertClean() {
    assertThat(problems).as("errors on the browser's console").isEmpty();
    assertThat(elsewhere).as("requests to elsewhere").isEmpty();
  }

  @Override
  public void close() {
    try {
      browser.close();
      playwright.close();
    } finally {
      command.destroy();
    }
  }
}
