package dev.partita.controller.selector.values;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A URL as CEL's {@code url()} has it, which is an absolute URI or an absolute path by the rules of Go's net/url: laxer
 * than {@link java.net.URI} in what a path may hold, and as strict in hosts and ports.
 *
 * @param host with the port
 * @param path as it was written
 * @param query as it was written
 */
public record Url(String scheme, String host, String path, String query) {
  private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*):(.*)", Pattern.DOTALL);
  // Possessive where alternatives are repeated: otherwise every one of them takes stack, and a URL may be long.
  private static final Pattern ESCAPES = Pattern.compile("(?:[^%]|%[0-9A-Fa-f]{2})*+", Pattern.DOTALL);
  private static final Pattern HOST =
      Pattern.compile("(?:\\[[0-9A-Fa-f:.]+(?:%25[^\\]]*)?\\]|[^\\[\\]:]*)(?::[0-9]*)?");
  private static final Pattern HOST_LETTERS =
      Pattern.compile("(?:[A-Za-z0-9\\-_.~!$&'()*+,;=:\\[\\]<>\"]|[^\\x00-\\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*+");
  private static final Pattern USER_LETTERS = Pattern.compile("[A-Za-z0-9\\-._:~!$&'()*+,;=%@]*");
  private static final String PATH_LETTERS = "$&+,/:;=@-_.~";
  private static final String KEPT_IN_PATH = PATH_LETTERS + "!'()*[]%";

  /** Whether it is an absolute URI or an absolute path; what follows a # is no fragment here. */
  public static boolean isRequest(String text) {
    return parts(text).isPresent();
  }

  /** Empty if the text is none. */
  public static Optional<Url> parse(String text) {
    int fragment = text.indexOf('#');
    return isRequest(text) ? parts(fragment < 0 ? text : text.substring(0, fragment)) : Optional.empty();
  }

  private static Optional<Url> parts(String text) {
    if (text.isEmpty() || text.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
      return Optional.empty();
    }
    Matcher withScheme = SCHEME.matcher(text);
    String scheme = withScheme.matches() ? withScheme.group(1).toLowerCase(Locale.ROOT) : "";
    String rest = withScheme.matches() ? withScheme.group(2) : text;
    int question = rest.indexOf('?');
    String query = question < 0 ? "" : rest.substring(question + 1);
    rest = question < 0 ? rest : rest.substring(0, question);
    if (!rest.startsWith("/")) {
      // such as mailto:somebody
      return scheme.isEmpty() ? Optional.empty() : Optional.of(new Url(scheme, "", "", query));
    }
    String host = "";
    if (!scheme.isEmpty() && rest.startsWith("//")) {
      int slash = rest.indexOf('/', 2);
      String authority = slash < 0 ? rest.substring(2) : rest.substring(2, slash);
      rest = slash < 0 ? "" : rest.substring(slash);
      int at = authority.lastIndexOf('@');
      host = authority.substring(at + 1);
      boolean user = at < 0 || (USER_LETTERS.matcher(authority.substring(0, at)).matches()
          && ESCAPES.matcher(authority.substring(0, at)).matches());
      if (!user || !HOST.matcher(host).matches() || !HOST_LETTERS.matcher(host).matches()) {
        return Optional.empty();
      }
    }
    return ESCAPES.matcher(rest).matches()
        ? Optional.of(new Url(scheme, unescaped(host, false), rest, query))
        : Optional.empty();
  }

  /** Without port, and without the brackets of IPv6. */
  public String hostname() {
    int colon = host.lastIndexOf(':');
    String name = colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
    return name.startsWith("[") && name.endsWith("]") ? name.substring(1, name.length() - 1) : name;
  }

  /** Empty if there is none. */
  public String port() {
    int colon = host.lastIndexOf(':');
    return colon > host.lastIndexOf(']') ? host.substring(colon + 1) : "";
  }

  /** As it was written, if it needs no escaping. */
  public String escapedPath() {
    if (path.chars().allMatch(c -> isLetterOrDigit(c) || KEPT_IN_PATH.indexOf(c) >= 0) || path.equals("*")) {
      return path;
    }
    StringBuilder escaped = new StringBuilder();
    for (byte b : unescaped(path, false).getBytes(StandardCharsets.UTF_8)) {
      int c = Byte.toUnsignedInt(b);
      escaped
          .append(isLetterOrDigit(c) || PATH_LETTERS.indexOf(c) >= 0 ? Character.toString(c) : "%%%02X".formatted(c));
    }
    return escaped.toString();
  }

  /** The query's parameters; what cannot be read of it is left out. */
  public Map<String, List<String>> parameters() {
    Map<String, List<String>> parameters = new LinkedHashMap<>();
    for (String pair : query.split("&", -1)) {
      if (!pair.isEmpty() && !pair.contains(";") && ESCAPES.matcher(pair).matches()) {
        int equals = pair.indexOf('=');
        String key = unescaped(equals < 0 ? pair : pair.substring(0, equals), true);
        parameters.computeIfAbsent(key, k -> new ArrayList<>())
            .add(equals < 0 ? "" : unescaped(pair.substring(equals + 1), true));
      }
    }
    return parameters;
  }

  private static boolean isLetterOrDigit(int c) {
    return c < 0x80 && Character.isLetterOrDigit(c);
  }

  private static String unescaped(String text, boolean plusIsSpace) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream plain = new ByteArrayOutputStream(bytes.length);
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '%') {
        plain.write(Integer.parseInt(new String(bytes, i + 1, 2, StandardCharsets.US_ASCII), 16));
        i += 2;
      } else {
        plain.write(plusIsSpace && bytes[i] == '+' ? ' ' : bytes[i]);
      }
    }
    return plain.toString(StandardCharsets.UTF_8);
  }
}
