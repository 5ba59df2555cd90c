package dev.partita.controller.selector.cost;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How large a regular expression becomes when its repetitions are written out, as RE2 does before it matches:
 * {@code (a{100}){100}} is 10,000 characters. With a few more of these, 40 characters would take all memory.
 */
final class RegexSize {
  /** Characters, a hundred times what Kubernetes' limit lets somebody write by hand. */
  static final long MOST = 100_000;

  /** Groups within each other, of which each takes stack: Go's regexp/syntax, which Kubernetes has, allows as many. */
  static final int MOST_LEVELS = 1_000;

  private final String regex;
  private int at;

  private RegexSize(String regex) {
    this.regex = regex;
  }

  /**
   * @return at most the number of characters; what is no regular expression has some size, too
   * @throws CostLimit.Exceeded if it is more than {@link #MOST}, or has more levels than {@link #MOST_LEVELS}
   */
  static long of(String regex) {
    return new RegexSize(regex).size();
  }

  private long size() {
    Deque<Long> outer = new ArrayDeque<>();
    long sum = 0; // of the group that is open
    long last = 0; // what a repetition repeats
    while (at < regex.length()) {
      char here = regex.charAt(at++);
      switch (here) {
        case '(' -> {
          outer.push(sum);
          if (outer.size() > MOST_LEVELS) {
            throw CostLimit.Exceeded.regexLevels();
          }
          sum = 1;
          last = 0;
        }
        case ')' -> {
          last = sum;
          sum = (outer.isEmpty() ? 0 : outer.pop()) + last;
        }
        case '{' -> {
          long more = last * (times() - 1);
          sum += more;
          last += more;
        }
        default -> {
          if (here == '\\') {
            at++;
          } else if (here == '[') {
            skipClass();
          }
          last = 1;
          sum++;
        }
      }
      if (sum > MOST) {
        throw CostLimit.Exceeded.regex();
      }
    }
    return sum;
  }

  /**
   * The larger number of {@code {n}}, {@code {n,}} and {@code {n,m}}, at least 1. What is none of these stands for
   * itself.
   */
  private long times() {
    long most = 1;
    long number = 0;
    for (int i = at; i < regex.length() && i - at < 20; i++) {
      char here = regex.charAt(i);
      if (here >= '0' && here <= '9') {
        number = Math.min(MOST, number * 10 + here - '0');
        most = Math.max(most, number);
      } else if (here == ',') {
        number = 0;
        most++; // {n,} is n of them and a star
      } else if (here == '}') {
        at = i + 1;
        return most;
      } else {
        break;
      }
    }
    return 2;
  }

  private void skipClass() {
    int first = at;
    while (at < regex.length() && (regex.charAt(at) != ']' || at == first)) {
      at += regex.charAt(at) == '\\' ? 2 : 1;
    }
    at++;
  }
}
