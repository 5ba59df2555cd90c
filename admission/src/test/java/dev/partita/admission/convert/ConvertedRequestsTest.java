package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.InstanceSize;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.api.config.Decoded;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConvertedRequestsTest {
  private static final GpuRequest EVERYTHING =
      new GpuRequest(
          2,
          new Portion.Share(new Memory.Bytes(8L << 30), OptionalInt.of(25)),
          new CardChoice(List.of("a100", "h\"2\\00"), List.of("pcie"), List.of("GPU-1"), List.of("GPU-2")),
          new ShareOptions(Optional.of("Soft"), OptionalInt.of(0), OptionalLong.of(16L << 30),
              new TreeMap<>(Map.of("nodes", "Spread", "gpus", "Binpack", "numa", "Required"))));
  private static final GpuRequest HALF = new GpuRequest(1,
      new Portion.Share(new Memory.Percent(50), OptionalInt.empty()), CardChoice.ANY, ShareOptions.NONE);
  private static final GpuRequest WHOLE = new GpuRequest(1, new Portion.Whole(), CardChoice.ANY, ShareOptions.NONE);
  private static final GpuRequest PROFILE = new GpuRequest(2,
      new Portion.Instance(new InstanceSize.Profile("1g.10gb+me")), CardChoice.ANY, ShareOptions.NONE);
  private static final GpuRequest INSTANCE = new GpuRequest(1,
      new Portion.Instance(new InstanceSize.AtLeast(8L << 30)), CardChoice.ANY, ShareOptions.NONE);
  private static final GpuRequest TURN = new GpuRequest(1, new Portion.Turn(), CardChoice.ANY, ShareOptions.NONE);

  /** Pods that exist carry such text: it must be understood by every version. */
  @Test
  void isWrittenAsInEveryVersion() {
    assertThat(new ConvertedRequests(List.of(WHOLE, HALF, EVERYTHING)).text())
        .isEqualTo(
            "{\"version\":1,\"requests\":[{\"count\":1,\"whole\":true},{\"count\":1,\"memoryPercent\":50},"
                + "{\"count\":2,\"memory\":8589934592,\"cores\":25,\"models\":[\"a100\",\"h\\\"2\\\\00\"],\"notModels\":[\"pcie\"],\"uuids\":[\"GPU-1\"],\"notUuids\":[\"GPU-2\"],"
                + "\"coreLimit\":\"Soft\",\"priority\":0,\"memoryLimit\":17179869184,\"placement\":{\"gpus\":\"Binpack\",\"nodes\":\"Spread\",\"numa\":\"Required\"}}]}");
  }

  @Test
  void instancesAndTurnsAreWrittenAsInEveryVersion() {
    assertThat(new ConvertedRequests(List.of(PROFILE, INSTANCE, TURN)).text())
        .isEqualTo(
            "{\"version\":1,\"requests\":[{\"count\":2,\"mig\":\"1g.10gb+me\"},{\"count\":1,\"migMemory\":8589934592},{\"count\":1,\"turn\":true}]}");
  }

  @Test
  void whatIsWrittenIsRead() {
    ConvertedRequests written =
        new ConvertedRequests(List.of(EVERYTHING, HALF, WHOLE, PROFILE, INSTANCE, TURN));

    assertThat(ConvertedRequests.read(written.text())).isEqualTo(new Decoded.Valid<>(written));
  }

  @Test
  void whatNoAnnotationCanHoldIsNotReadAtAll() {
    assertThat(ConvertedRequests.read("{\"version\":1,\"requests\":[{\"count\":1,\"whole\":true,\"models\":["
        + "\"a\",".repeat(70_000) + "\"a\"]}]}")).isInstanceOfSatisfying(Decoded.Invalid.class,
            invalid -> assertThat(invalid.message()).contains("is longer than an annotation can be"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "                                                                 | is of version",
        "nonsense                                                         | is no JSON",
        "[]                                                               | is of version",
        "{'version':2,'requests':[{'count':1,'whole':true}]}              | is of version 2; known is 1",
        "{'version':1,'requests':[]}                                      | from 1 to 32",
        "{'version':1,'requests':[{'count':1,'whole':true},{'count':1,'whole':true}]} | from 1 to 32",
        "{'version':1,'requests':[{'count':0,'whole':true}]}              | count must be",
        "{'version':1,'requests':[{'count':33,'whole':true}]}             | count must be",
        "{'version':1,'requests':[{'count':'1','whole':true}]}            | is not written as",
        "{'version':1,'requests':[{'count':1,'whole':true,'cel':'true'}]} | is not written as",
        "{'version':1,'requests':[{'whole':true,'count':1}]}              | is not written as",
        "{'version':1, 'requests':[{'count':1,'whole':true}]}             | is not written as",
        "{'version':1,'requests':[{'count':1,'whole':true}]} x            | is no JSON",
        "{'version':1,'version':1,'requests':[{'count':1,'whole':true}]}  | is no JSON",
        "{'version':1,'requests':[{'count':1,'memory':-1}]}               | memory must be",
        "{'version':1,'requests':[{'count':1,'memory':1e3}]}              | is not written as",
        "{'version':1,'requests':[{'count':1,'memoryPercent':100}]}       | memoryPercent must be",
        "{'version':1,'requests':[{'count':1,'memory':1,'memoryPercent':9}]} | is not written as",
        "{'version':1,'requests':[{'count':1,'cores':101}]}               | cores must be",
        "{'version':1,'requests':[{'count':1,'mig':'1g'}]}                | mig must be a profile",
        "{'version':1,'requests':[{'count':1,'migMemory':0}]}             | migMemory must be",
        "{'version':1,'requests':[{'count':1,'turn':true,'memory':1}]}    | is not written as",
        "{'version':1,'requests':[{'count':1,'memory':2,'memoryLimit':2}]} | memoryLimit is for a share",
        "{'version':1,'requests':[{'count':1,'whole':true,'memoryLimit':2}]} | memoryLimit is for a share",
        "{'version':1,'requests':[{'count':1,'whole':true,'models':[]}]}  | is not written as",
        "{'version':1,'requests':[{'count':1,'whole':true,'models':['']}]} | must hold something",
        "{'version':1,'requests':[{'count':1,'whole':true,'uuids':['a\\nb']}]} | no control characters",
        "{'version':1,'requests':[{'count':1,'cores':1,'coreLimit':'hard'}]} | must be one of",
        "{'version':1,'requests':[{'count':1,'cores':1,'placement':{'zone':'a'}}]} | is not a known field",
      })
  void anythingElseIsRefused(String text, String problem) {
    assertThat(ConvertedRequests.read(text == null ? "" : text.replace('\'', '"')))
        .isInstanceOfSatisfying(Decoded.Invalid.class, invalid -> assertThat(invalid.message()).contains(problem));
  }

  @Test
  void moreRequestsThanAPodMayHaveAreNotReadToTheEnd() {
    String many = "{\"count\":1,\"whole\":true},".repeat(5000);

    assertThat(ConvertedRequests.read("{\"version\":1,\"requests\":[" + many + "{\"count\":2,\"whole\":true}]}"))
        .isInstanceOfSatisfying(Decoded.Invalid.class,
            invalid -> assertThat(invalid.message()).isEqualTo("holds more than 32 requests"));
  }

  @Test
  void moreWordsThanASelectorHoldsAreNoChoice() {
    List<String> many = java.util.stream.IntStream.range(0, 2000).mapToObj(i -> "GPU-" + i).toList();

    assertThatThrownBy(() -> new CardChoice(List.of(), List.of(), many, List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
