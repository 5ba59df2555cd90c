package dev.partita.controller.selector.values;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/** What texts can be checked against in CEL's {@code format} (k8s.io/apiserver/pkg/cel/library/format.go). */
public enum NamedFormat {
  DNS1123_LABEL("dns1123Label", 63, Form.LABEL),
  DNS1123_SUBDOMAIN("dns1123Subdomain", 253, Form.SUBDOMAIN),
  DNS1035_LABEL("dns1035Label", 63, Form.OLD_LABEL),
  DNS1123_LABEL_PREFIX("dns1123LabelPrefix", 63, Form.LABEL),
  DNS1123_SUBDOMAIN_PREFIX("dns1123SubdomainPrefix", 253, Form.SUBDOMAIN),
  DNS1035_LABEL_PREFIX("dns1035LabelPrefix", 63, Form.OLD_LABEL),
  LABEL_VALUE("labelValue", 63, "(" + Form.NAME + ")?"),
  QUALIFIED_NAME("qualifiedName", 63, Form.NAME),
  URI("uri", Integer.MAX_VALUE, ".*"),
  UUID("uuid", 36, "[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}"),
  BYTE("byte", Integer.MAX_VALUE, "([A-Za-z0-9+/]{4})*+([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"),
  DATE("date", 10, "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
  DATETIME("datetime", Integer.MAX_VALUE, "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}.*");

  /** Patterns that several have. */
  private static final class Form {
    static final String LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    static final String SUBDOMAIN = LABEL + "(\\." + LABEL + ")*";
    static final String OLD_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";
    static final String NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
  }

  private final String word;
  private final int longest;
  private final Pattern form;

  NamedFormat(String word, int longest, String form) {
    this.word = word;
    this.longest = longest;
    this.form = Pattern.compile(form);
  }

  /** As CEL names it. */
  public String word() {
    return word;
  }

  public static Optional<NamedFormat> of(String word) {
    return Arrays.stream(values()).filter(format -> format.word.equals(word)).findFirst();
  }

  /** What is wrong with the text; empty if nothing is. */
  public Optional<List<String>> problems(String text) {
    return isValid(text) ? Optional.empty() : Optional.of(List.of("is no " + word));
  }

  private boolean isValid(String text) {
    return switch (this) {
      case DNS1123_LABEL, DNS1123_SUBDOMAIN, DNS1035_LABEL, LABEL_VALUE, UUID -> hasForm(text);
      case DNS1123_LABEL_PREFIX, DNS1123_SUBDOMAIN_PREFIX, DNS1035_LABEL_PREFIX -> hasForm(withoutDash(text));
      case BYTE -> !text.isEmpty() && hasForm(text);
      case URI -> Url.isRequest(text);
      case DATE -> hasForm(text) && isTime(text, LocalDate::parse);
      case DATETIME -> hasForm(text) && isTime(text.toUpperCase(Locale.ROOT), OffsetDateTime::parse);
      case QUALIFIED_NAME -> {
        int slash = text.indexOf('/');
        yield (slash < 0 || DNS1123_SUBDOMAIN.isValid(text.substring(0, slash))) && hasForm(text.substring(slash + 1));
      }
    };
  }

  private boolean hasForm(String text) {
    return text.length() <= longest && form.matcher(text).matches();
  }

  /** A prefix may end with what the name may not. */
  private static String withoutDash(String text) {
    return text.length() > 1 && text.endsWith("-") ? text.substring(0, text.length() - 2) + "a" : text;
  }

  private static boolean isTime(String text, Function<String, Temporal> parsing) {
    try {
      return parsing.apply(text) != null;
    } catch (DateTimeException e) {
      return false;
    }
  }
}
