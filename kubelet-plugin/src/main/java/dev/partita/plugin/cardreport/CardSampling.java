package dev.partita.plugin.cardreport;

import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.Samples;
import dev.partita.plugin.usage.measure.SampledTimes;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks NVML how much of a card each process has used (nvmlDeviceGetProcessUtilization), and hands these samples on to
 * what checks core limits ({@link SampledTimes}), which looks far too seldom to see all of them. What samples give to
 * one process though another one had it is set right there and for whoever shows samples ({@link DividedSamples}). For
 * one thread.
 */
public final class CardSampling {
  private static final Logger LOG = LoggerFactory.getLogger(CardSampling.class);

  /** What NVML says of a card that no process uses. */
  static final CardSamples NOBODY = new CardSamples.Told(List.of());

  private final Samples nvml;
  private final DividedSamples divided;
  private final SampledTimes times;
  private final SetBack setBack = new SetBack();

  /**
   * @param divided has the samples, and is told how cards are divided
   * @param times is given the samples
   */
  public CardSampling(DividedSamples divided, SampledTimes times) {
    this.nvml = divided.nvml();
    this.divided = divided;
    this.times = times;
  }

  /** Forgets all samples if the time of day was set back since the last look; whether it was, and others must, too. */
  boolean forgetIfSetBack(CardLoad.Moment now) {
    boolean back = setBack.since(now);
    if (back) {
      LOG.info("the clock was set back; forgetting NVML's samples until now");
      times.retain(List.of());
    }
    return back;
  }

  /**
   * Asks for the samples of cards that are newer than those before, and forgets all other cards.
   *
   * @param used cards that processes use, or may use; NVML is not asked about others
   */
  Map<String, CardSamples> ask(Collection<String> cards, Set<String> used, Supplier<CardLoad.Moment> clock) {
    Map<String, CardSamples> answers = new HashMap<>();
    for (String card : cards) {
      CardSamples answer = used.contains(card) ? nvml.of(card, times.newest(card)) : NOBODY;
      CardLoad.Moment now = clock.get();
      answer = setBack.judge(answer, now);
      times.take(card, answer, now.nanos());
      answers.put(card, answer);
    }
    times.retain(answers.keySet());
    return answers;
  }

  /**
   * Sets right what samples say of a card's processes.
   *
   * @param overNamed what they gave each that others had, by pid, in ns; below 0 what they gave others of its
   * @param percents what each had of late, by pid; empty while samples can stand as they are
   */
  void correct(String card, Map<Long, Long> overNamed, Map<Long, Integer> percents) {
    times.correct(card, overNamed);
    divided.divide(card, percents);
  }

  /** Lets the samples of all other cards stand as they are. */
  void retainDivided(Collection<String> cards) {
    divided.retain(cards);
  }
}
