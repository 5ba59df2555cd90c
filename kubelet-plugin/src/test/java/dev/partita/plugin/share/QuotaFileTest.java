package dev.partita.plugin.share;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Alone, since it changes what language the whole process speaks. */
@Isolated
class QuotaFileTest {
  /** As in {@code partita demo}, whose plugins have the language of whoever starts it. */
  @Test
  void theLibraryCanReadItWhateverDigitsTheMachinesLanguageHas() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    try {
      assertThat("%d".formatted(25)).as("these digits are others").isNotEqualTo("25");
      Grant grant = Grants.share("a", 0, "key", 8, 25);
      String text = QuotaFile.after("", new ClaimRef("default", "c", "0b5e8a9e-0000-4000-8000-000000000001"), grant,
          grant.share().orElseThrow(), new QuotaFile.Overhead(3, 4));
      assertThat(text).contains("\ngeneration 1\n", "\nmemory " + (8L << 30) + "\n", "\ncores 25\n", "\npriority 1\n");
    } finally {
      Locale.setDefault(before);
    }
  }
}
