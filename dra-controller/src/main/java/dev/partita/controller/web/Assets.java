package dev.partita.controller.web;

import dev.partita.serving.http.HttpAnswer;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/** The page's own files: they show nothing of the cluster, so everybody gets them. */
final class Assets {
  /** Where a WebJar says which version it has, and so where its files are. */
  private static final String LIT = "META-INF/maven/org.webjars.npm/lit-html/pom.properties";

  /** Nothing but these files and this server's answers is loaded, whatever a name in the cluster contains. */
  private static final Map<String, String> HEADERS = Map.of(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          + "manifest-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options", "nosniff",
      "Referrer-Policy", "no-referrer",
      "Cache-Control", "no-cache");

  private final Map<String, HttpAnswer> files = Map.of(
      "/", file("dev/partita/controller/web/index.html", "text/html"),
      "/app.js", file("dev/partita/controller/web/app.js", "text/javascript"),
      "/parts.js", file("dev/partita/controller/web/parts.js", "text/javascript"),
      "/style.css", file("dev/partita/controller/web/style.css", "text/css"),
      "/icon.svg", file("dev/partita/controller/web/icon.svg", "image/svg+xml"),
      "/lit/lit-html.js", lit("lit-html.js"),
      "/lit/directive.js", lit("directive.js"),
      "/lit/directive-helpers.js", lit("directive-helpers.js"),
      "/lit/directives/repeat.js", lit("directives/repeat.js"));

  /** The file at a path; empty if there is none. */
  Optional<HttpAnswer> at(String path) {
    return Optional.ofNullable(files.get(path));
  }

  private static HttpAnswer file(String resource, String type) {
    return new HttpAnswer(HttpURLConnection.HTTP_OK, type + "; charset=utf-8", text(resource), HEADERS);
  }

  /** Its files load each other by the paths that they have below the library's folder. */
  private static HttpAnswer lit(String path) {
    return file("META-INF/resources/webjars/lit-html/" + version(LIT) + "/" + path, "text/javascript");
  }

  private static String version(String properties) {
    Properties read = new Properties();
    try {
      read.load(new StringReader(text(properties)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return read.getProperty("version");
  }

  private static String text(String resource) {
    try (InputStream in = Assets.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("the program lacks " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
