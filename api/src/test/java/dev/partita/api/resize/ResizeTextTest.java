package dev.partita.api.resize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResizeTextTest {
  private static final long GIB = 1L << 30;
  private static final ShareSize NOW = new ShareSize(8 * GIB, 25);

  @Test
  void whatIsNotAskedForStays() {
    assertThat(SizeRequest.parse("memory=12Gi").of("gpu", NOW)).isEqualTo(new ShareSize(12 * GIB, 25));
    assertThat(SizeRequest.parse("cores=40").of("gpu", NOW)).isEqualTo(new ShareSize(8 * GIB, 40));
    assertThat(SizeRequest.parse(" cores = 0 , memory = 1Gi ").of("gpu", NOW)).isEqualTo(new ShareSize(GIB, 0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"granted", "waits: others have it: all", "refused: no card has it"})
  void anAnswerSaysToWhatItIsOne(String words) {
    ResizeAnswer answer = new ResizeAnswer("memory=12Gi", words);
    assertThat(ResizeAnswer.of(answered(answer.toString()))).contains(answer);
    assertThat(answer.size()).map(SizeRequest::toString).contains("memory=12Gi");
    assertThat(answer.isTo("memory=12Gi")).isTrue();
    assertThat(answer.isTo("memory=1")).isFalse();
  }

  @Test
  void anAnswerToALongTextQuotesItsBegin() {
    String asked = "x".repeat(5000);
    ResizeAnswer answer = new ResizeAnswer(asked, "refused: is not understood");
    assertThat(answer.toString()).hasSizeLessThan(300);
    assertThat(ResizeAnswer.of(answered(answer.toString()))).hasValueSatisfying(read -> {
      assertThat(read.isTo(asked)).isTrue();
      assertThat(read.size()).isEmpty();
    });
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "granted", "memory=12Gi: maybe", "memory=12Gi: granted: really"})
  void whatTheControllerDoesNotWriteIsNoAnswer(String text) {
    assertThat(ResizeAnswer.of(answered(text))).isEmpty();
  }

  private static ResourceClaim answered(String answer) {
    return new ResourceClaimBuilder().withNewMetadata().addToAnnotations(Driver.RESIZE_ANSWER_ANNOTATION, answer)
        .endMetadata().build();
  }

  @Test
  void aRequestCanBeNamed() {
    SizeRequest asked = SizeRequest.parse("left.memory=12Gi,right.memory=4Gi,cores=50");
    assertThat(asked.requests()).containsExactlyInAnyOrder("left", "right");
    assertThat(asked.of("left", NOW)).isEqualTo(new ShareSize(12 * GIB, 50));
    assertThat(asked.of("right", NOW)).isEqualTo(new ShareSize(4 * GIB, 50));
    assertThat(asked.of("other", NOW)).isEqualTo(new ShareSize(8 * GIB, 50));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "memory | is not understood",
    "size=12Gi | is not understood",
    "'' | is not understood",
    "memory=much | is not a quantity",
    "memory=-1Gi | must not be negative",
    "memory=0 | must be above 0",
    "memory=1.5 | must be a whole number of bytes",
    "memory=1e99999999 | memory is",
    "memory=99999999999999999999 | is more than can be counted",
    "cores=101 | is a percentage",
    "memory=1Gi,memory=2Gi | is there twice"
  })
  void whatCannotBeMeantIsRefusedWithTheReason(String text, String why) {
    assertThatIllegalArgumentException().isThrownBy(() -> SizeRequest.parse(text)).withMessageContaining(why);
  }

  @Test
  void aTextOfAnyLengthIsRefusedAtOnce() {
    assertThatIllegalArgumentException().isThrownBy(() -> SizeRequest.parse("memory=1Gi,".repeat(20_000)))
        .withMessageContaining("characters");
  }

  @Test
  void grantedSizesAreReadAsTheyAreWritten() {
    GrantedSizes sizes =
        new GrantedSizes(Map.of("0b5e8a9e-0000-4000-8000-000000000001", new ShareSize(12 * GIB, 40), "b", NOW));
    ResourceClaim claim = claim(sizes.toString());
    assertThat(GrantedSizes.of(claim)).isEqualTo(sizes);
    assertThat(GrantedSizes.of(claim).ofShare("0B5E8A9E-0000-4000-8000-000000000001")).as("in any case")
        .contains(new ShareSize(12 * GIB, 40));
    assertThat(GrantedSizes.of(claim).ofShare("another")).isEmpty();
    assertThat(GrantedSizes.of(claim).ofShare(null)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a", "a:memory=8Gi", "a:memory=8Gi,cores=101", "a:memory=0,cores=1", "a:memory=1e9,cores=1",
        "a:memory=999999999999999999Ti,cores=1", "a:memory=8Gi,cores=4;", "memory=8Gi,cores=4"})
  void whatTheControllerDoesNotWriteMeansNothing(String text) {
    assertThat(GrantedSizes.of(claim(text))).isEqualTo(GrantedSizes.NONE);
  }

  private static ResourceClaim claim(String sizes) {
    return new ResourceClaimBuilder().withNewMetadata().addToAnnotations(Driver.GRANTED_SIZES_ANNOTATION, sizes)
        .endMetadata().build();
  }
}
