package dev.partita.controller.selector.functions;

import static dev.partita.controller.selector.functions.CelFunctions.Type.FORMAT;
import static dev.partita.controller.selector.functions.CelFunctions.Type.NUMBER;
import static dev.partita.controller.selector.functions.CelFunctions.Type.TEXT;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.cel.common.types.ListType;
import dev.cel.common.types.OptionalType;
import dev.cel.common.types.SimpleType;
import dev.partita.controller.selector.values.NamedFormat;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The find and findAll functions and the named formats that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library,
 * regex.go and format.go), and what dev.cel lacks of CEL's strings library: format and quote. Regular expressions are
 * RE2's, in time linear in the text.
 */
public final class TextFunctions extends CelFunctions {
  public TextFunctions() {
    member(
        "find",
        SimpleType.STRING,
        TEXT,
        TEXT,
        (text, regex) -> {
          Matcher matcher = pattern(regex).matcher(text);
          return matcher.find() ? matcher.group() : "";
        });
    member("findAll", Type.TEXTS, TEXT, TEXT, (text, regex) -> all(text, regex, -1));
    member(
        "findAll",
        Type.TEXTS,
        List.of(TEXT, TEXT, NUMBER),
        arguments -> all((String) arguments[0], (String) arguments[1], (Long) arguments[2]));
    for (NamedFormat format : NamedFormat.values()) {
      constant("format." + format.word(), format);
    }
    global("format.named", OptionalType.create(FORMAT.cel()), TEXT, NamedFormat::of);
    member(
        "format",
        "partita_format_string_list",
        SimpleType.STRING,
        List.of(SimpleType.STRING, ListType.create(SimpleType.DYN)),
        List.of(String.class, Collection.class),
        arguments -> FormattedText.of((String) arguments[0], (Collection<?>) arguments[1]));
    global("strings.quote", SimpleType.STRING, TEXT, Quoted::plainly);
    member("validate", OptionalType.create(Type.TEXTS), FORMAT, TEXT, NamedFormat::problems);
  }

  private static List<String> all(String text, String regex, long most) {
    Matcher matcher = pattern(regex).matcher(text);
    List<String> found = new ArrayList<>();
    while ((most < 0 || found.size() < most) && matcher.find()) {
      found.add(matcher.group());
    }
    return found;
  }

  private static Pattern pattern(String regex) {
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException("not a regular expression: " + e.getDescription(), e);
    }
  }
}
