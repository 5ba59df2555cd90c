package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.partita.api.config.FieldError;
import dev.partita.controller.claim.RequestRules;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ObjectReviewTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String HEAD = "'apiVersion': 'gpu.partita.dev/v1alpha1', 'kind': 'GpuShareConfig'";

  private final ObjectReview review =
      new ObjectReview(
          new KubernetesSerialization(),
          new RequestRules(name -> null),
          (namespace, claim) -> namespace.equals("poor")
              ? Optional.of("namespace quota q: no, " + claim.getSpec().getDevices().getRequests().size() + " request")
              : Optional.empty());

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "resource.k8s.io | resourceclaims         | {'spec': {'devices': {'config': [CONFIG]}}}           | spec.devices.config[0].opaque.parameters.",
        "resource.k8s.io | resourceclaimtemplates | {'spec': {'spec': {'devices': {'config': [CONFIG]}}}} | spec.spec.devices.config[0].opaque.parameters.",
        "resource.k8s.io | deviceclasses          | {'spec': {'config': [CONFIG]}}                        | spec.config[0].opaque.parameters.",
      })
  void everyErrorOfAConfigIsNamedWithItsPathInTheObject(String group, String resource, String object, String path)
      throws JsonProcessingException {
    String wrong = config("{" + HEAD + ", 'corelimit': 'Hard', 'priority': 7, 'placement': {'gpus': 'Pack'}}");
    assertThat(create(group, resource, object.replace("CONFIG", wrong)))
        .isInstanceOfSatisfying(
            Verdict.Invalid.class,
            invalid -> assertThat(invalid.errors())
                .extracting(FieldError::path)
                .containsExactlyInAnyOrder(path + "corelimit", path + "priority", path + "placement.gpus"));
    assertThat(create(group, resource, object.replace("CONFIG", config("{" + HEAD + ", 'coreLimit': 'Soft'}"))))
        .isEqualTo(Verdict.allowed());
  }

  @Test
  void everyConfigOfAClaimIsLookedAtAndThoseOfOtherDriversAreTheirs() throws JsonProcessingException {
    String others = "{'opaque': {'driver': 'nic.example', 'parameters': {'kind': 'Whatever'}}}";
    String bad = config("{" + HEAD + ", 'coreLimit': 'hard'}");
    assertThat(create("resource.k8s.io", "resourceclaims",
        "{'spec': {'devices': {'config': [%s, %s, %s]}}}".formatted(others, bad, bad)))
        .isInstanceOfSatisfying(
            Verdict.Invalid.class,
            invalid -> assertThat(invalid.message())
                .isEqualTo(
                    "spec.devices.config[1].opaque.parameters.coreLimit: must be one of Hard, None, Soft, not \"hard\"; "
                        + "spec.devices.config[2].opaque.parameters.coreLimit: must be one of Hard, None, Soft, not \"hard\""));
  }

  @Test
  void memoryByAmountAndByPercentIsRefusedInEveryRequestThatTheConfigCovers() throws JsonProcessingException {
    String eight = "'deviceClassName': 'gpu.partita.dev', 'capacity': {'requests': {'memory': '8Gi'}}";
    String devices =
        "{'devices': {'requests': [{'name': 'a', 'exactly': {%1$s}}, {'name': 'b', 'firstAvailable': [{'name': 'x', 'deviceClassName': 'gpu.partita.dev'}, {'name': 'y', %1$s}]}, {'name': 'c', 'exactly': {%1$s}}], 'config': [{'requests': ['a', 'b'], %2$s}]}}"
            .formatted(eight, config("{" + HEAD + ", 'memoryPercent': 40}").substring(1,
                config("{" + HEAD + ", 'memoryPercent': 40}").length() - 1));
    String problem = "cannot be used together with memoryPercent of the claim's GpuShareConfig; leave one of them out";
    assertThat(errors("resourceclaims", "{'spec': " + devices + "}"))
        .containsExactly(
            new FieldError("spec.devices.requests[0].exactly.capacity.requests[memory]", problem),
            new FieldError("spec.devices.requests[1].firstAvailable[1].capacity.requests[memory]", problem));
    assertThat(errors("resourceclaimtemplates", "{'spec': {'spec': " + devices + "}}"))
        .extracting(FieldError::path)
        .containsExactly(
            "spec.spec.devices.requests[0].exactly.capacity.requests[memory]",
            "spec.spec.devices.requests[1].firstAvailable[1].capacity.requests[memory]");
    String misspelt = config("{" + HEAD + ", 'corelimit': 'Hard'}");
    String ofAnother = devices.replace("]}}", ", {'requests': ['d'], " + misspelt.substring(1) + "]}}");
    assertThat(errors("resourceclaims", "{'spec': " + ofAnother + "}")).as("all at once").hasSize(3);
    String last = devices.replace("]}}", ", " + misspelt + "]}}");
    assertThat(errors("resourceclaims", "{'spec': " + last + "}")).as("once it is right, it overrides the percentage")
        .extracting(FieldError::path).containsExactly("spec.devices.config[1].opaque.parameters.corelimit");
    String others = devices.replace("'gpu.partita.dev', 'capacity'", "'hbm.example', 'capacity'");
    assertThat(create("resource.k8s.io", "resourceclaims", "{'spec': " + others + "}")).as("another driver's capacity")
        .isEqualTo(Verdict.allowed());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'operator': 'Exists'}",
        "{'operator': 'Exists', 'effect': 'NoSchedule'}",
        "{'key': 'gpu.partita.dev/allocator', 'operator': 'Exists'}",
        "{'key': 'gpu.partita.dev/allocator', 'value': 'controller'}"
      })
  void whatWouldLetKubeSchedulerHaveTheControllersCardsIsRefused(String toleration) throws JsonProcessingException {
    String exactly =
        "{'spec': {'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'h200.gpu.partita.dev', 'tolerations': [{'key': 'gpu.partita.dev/unhealthy', 'operator': 'Exists'}, %s]}}]}}}";
    assertThat(errors("resourceclaims", exactly.formatted(toleration)))
        .singleElement()
        .satisfies(error -> assertThat(error.path()).isEqualTo("spec.devices.requests[0].exactly.tolerations[1]"))
        .satisfies(error -> assertThat(error.problem()).contains("gpu.partita.dev/allocator",
            "name the keys of the taints that the request is to tolerate"));
    String alternative =
        "{'spec': {'spec': {'devices': {'requests': [{'name': 'a', 'firstAvailable': [{'name': 'x', 'deviceClassName': 'gpu.partita.dev', 'tolerations': ["
            + toleration + "]}]}]}}}}";
    assertThat(errors("resourceclaimtemplates", alternative))
        .extracting(FieldError::path)
        .containsExactly("spec.spec.devices.requests[0].firstAvailable[0].tolerations[0]");
    assertThat(errors("resourceclaims",
        exactly.formatted(toleration).replace("'tolerations'", "'adminAccess': true, 'tolerations'")))
        .as("it takes nothing").isEmpty();
    assertThat(errors("resourceclaims", exactly.formatted(toleration).replace("h200.gpu.partita.dev", "nic.example")))
        .as("another driver's").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'key': 'gpu.partita.dev/unhealthy', 'operator': 'Exists'}",
        "{'key': 'gpu.partita.dev/allocator', 'value': 'other'}",
        "{'key': 'gpu.partita.dev/allocator', 'operator': 'Exists', 'effect': 'NoExecute'}"
      })
  void otherTaintsMayBeTolerated(String toleration) throws JsonProcessingException {
    String claim =
        "{'spec': {'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'gpu.partita.dev', 'tolerations': ["
            + toleration + "]}}]}}}";
    assertThat(create("resource.k8s.io", "resourceclaims", claim)).isEqualTo(Verdict.allowed());
  }

  @Test
  void whoAsksForTimeSlicingIsToldThatNothingIsLimitedAndGetsNoAmounts() throws JsonProcessingException {
    String config = config("{" + HEAD + ", 'sharing': {'strategy': 'TimeSlicing', 'interval': 'Long'}}");
    String devices = "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'gpu.partita.dev'}}],"
        + " 'config': [%s]}}".formatted(config);
    String said =
        "spec.devices.config[0].opaque.parameters.sharing.strategy: TimeSlicing limits neither memory nor cores:"
            + " what one claim takes, the others on the card lack";
    assertThat(create("resource.k8s.io", "resourceclaims", "{'spec': " + devices + "}"))
        .isEqualTo(new Verdict.Allowed(List.of(said)));
    assertThat(create("resource.k8s.io", "resourceclaimtemplates", "{'spec': {'spec': " + devices + "}}"))
        .isEqualTo(new Verdict.Allowed(List.of("spec." + said)));
    assertThat(create("resource.k8s.io", "resourceclaims",
        "{'metadata': {'ownerReferences': [{'kind': 'Pod'}]}, 'spec': " + devices + "}"))
        .as("made from a template").isEqualTo(Verdict.allowed());
    for (String undivided : List.of("whole.gpu.partita.dev", "mig.gpu.partita.dev")) {
      assertThat(errors("resourceclaims", "{'spec': " + devices.replace("'gpu.partita.dev'}}", "'" + undivided + "'}}")
          + "}")).singleElement().satisfies(error -> assertThat(error.problem()).startsWith(undivided + " gives ")
              .contains(", and sharing.strategy of the GpuShareConfig is for shares only"));
    }
    String amounts = devices.replace("'deviceClassName'",
        "'capacity': {'requests': {'memory': '8Gi', 'cores': '25'}}, 'deviceClassName'");
    assertThat(errors("resourceclaims", "{'spec': " + amounts + "}")).extracting(FieldError::toString)
        .allSatisfy(error -> assertThat(error).contains("together with sharing.strategy TimeSlicing"))
        .extracting(error -> error.substring(0, error.indexOf(':')))
        .containsExactly("spec.devices.requests[0].exactly.capacity.requests[cores]",
            "spec.devices.requests[0].exactly.capacity.requests[memory]");
  }

  @Test
  void whoAsksForMpsIsToldWhatOthersCanDoAndHasOneDeviceInAClaim() throws JsonProcessingException {
    String config = config("{" + HEAD + ", 'sharing': {'strategy': 'MPS'}}");
    String one = "{'name': '%s', 'exactly': {'deviceClassName': 'gpu.partita.dev',"
        + " 'capacity': {'requests': {'memory': '8Gi', 'cores': '25'}}%s}}";
    String devices = "{'devices': {'requests': [%s], 'config': [" + config + "]}}";
    assertThat(create("resource.k8s.io", "resourceclaims",
        "{'spec': " + devices.formatted(one.formatted("a", "")) + "}"))
        .isEqualTo(new Verdict.Allowed(List.of("spec.devices.config[0].opaque.parameters.sharing.strategy: with MPS a"
            + " fault of one program can end the programs of all claims on the card")));
    for (String several : List.of(one.formatted("a", ", 'count': 2"), one.formatted("a", ", 'allocationMode': 'All'"),
        one.formatted("a", "") + ", " + one.formatted("b", ""))) {
      assertThat(errors("resourceclaims", "{'spec': " + devices.formatted(several) + "}")).singleElement().asString()
          .startsWith(
              "spec.devices.requests[0].exactly: sharing.strategy MPS of the GpuShareConfig is for claims of one"
                  + " device");
    }
    String alternatives = "{'name': 'a', 'firstAvailable': [{'name': 'x', 'deviceClassName': 'gpu.partita.dev'},"
        + " {'name': 'y', 'deviceClassName': 'gpu.partita.dev'}]}";
    assertThat(errors("resourceclaims", "{'spec': " + devices.formatted(alternatives) + "}")).isEmpty();
    for (String undivided : List.of("whole.gpu.partita.dev", "mig.gpu.partita.dev")) {
      String whole = "{'name': 'a', 'exactly': {'deviceClassName': '" + undivided + "'}}";
      assertThat(errors("resourceclaims", "{'spec': " + devices.formatted(whole) + "}")).singleElement()
          .satisfies(error -> assertThat(error.problem()).contains(", and sharing.strategy of the GpuShareConfig is for"
              + " shares only"));
    }
  }

  @Test
  void aShareCannotGrowToLessThanItAsksFor() throws JsonProcessingException {
    String devices = "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': 'gpu.partita.dev',"
        + " 'capacity': {'requests': {'memory': '%s'}}}}], 'config': ["
        + config("{" + HEAD + ", 'memoryLimit': '8Gi'}") + "]}}";
    assertThat(errors("resourceclaims", "{'spec': " + devices.formatted("9Gi") + "}")).singleElement()
        .asString().isEqualTo("spec.devices.requests[0].exactly.capacity.requests[memory]: is more than memoryLimit of"
            + " the GpuShareConfig, which is what the share may grow to: 9Gi and 8Gi");
    assertThat(create("resource.k8s.io", "resourceclaims", "{'spec': " + devices.formatted("8Gi") + "}"))
        .isEqualTo(Verdict.allowed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "'oversubscribe': 150; oversubscribe",
        "'memoryLimit': '8Gi'; memoryLimit",
        "'sharing': {'strategy': 'MPS'}; sharing.strategy",
        "'placement': {'exclusive': true}; placement.exclusive"
      })
  void whatOnlySharesOfCardsCanIsRefusedOfSharesOfInstances(String field, String said)
      throws JsonProcessingException {
    String devices = ("{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName':"
        + " 'shared.mig.gpu.partita.dev', 'capacity': {'requests': {'memory': '4Gi'}}}}], 'config': [%s]}}")
        .formatted(config("{" + HEAD + ", " + field + "}"));
    assertThat(errors("resourceclaims", "{'spec': " + devices + "}")).singleElement().asString()
        .isEqualTo("spec.devices.requests[0].exactly.deviceClassName: shared.mig.gpu.partita.dev gives shares of MIG"
            + " instances, and " + said + " of the GpuShareConfig is for shares of cards only; leave it out, or use a"
            + " class of those such as gpu.partita.dev");
  }

  @Test
  void coresOfAShareOfAnInstanceAreRefusedWithWhatToDo() throws JsonProcessingException {
    String devices = "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName':"
        + " 'shared.mig.gpu.partita.dev', 'capacity': {'requests': {'memory': '4Gi', 'cores': '25'}}}}]}}";
    assertThat(errors("resourceclaims", "{'spec': " + devices + "}")).singleElement().asString()
        .isEqualTo("spec.devices.requests[0].exactly.capacity.requests[cores]: is for shares of cards only: of a MIG"
            + " instance's shares only memory is divided; leave it out, or take the whole instance (class"
            + " mig.gpu.partita.dev)");
    assertThat(create("resource.k8s.io", "resourceclaims", "{'spec': " + devices.replace(", 'cores': '25'", "") + "}"))
        .isEqualTo(Verdict.allowed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "whole.gpu.partita.dev; 'oversubscribe': 150; oversubscribe",
        "mig.gpu.partita.dev; 'oversubscribe': 150; oversubscribe",
        "mig.gpu.partita.dev; 'memoryLimit': '8Gi'; memoryLimit",
        "mig.gpu.partita.dev; 'placement': {'exclusive': true}; placement.exclusive"
      })
  void whatOnlySharesCanIsRefusedOfAClassWithoutShares(String className, String field, String said)
      throws JsonProcessingException {
    String devices =
        "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': '%s'}}], 'config': [%s]}}"
            .formatted(className, config("{" + HEAD + ", " + field + "}"));
    assertThat(errors("resourceclaims", "{'spec': " + devices + "}"))
        .singleElement()
        .satisfies(error -> assertThat(error.path()).isEqualTo("spec.devices.requests[0].exactly.deviceClassName"))
        .satisfies(error -> assertThat(error.problem()).startsWith(className + " gives ")
            .contains(", and " + said + " of the GpuShareConfig is for shares only"));
    assertThat(errors("resourceclaimtemplates", "{'spec': {'spec': " + devices + "}}")).hasSize(1);
    for (String other : List.of(
        devices.replace(className, "gpu.partita.dev"),
        devices.replace("'exactly': {", "'exactly': {'adminAccess': true, "),
        devices.replace("'exactly': {'deviceClassName': '" + className + "'}",
            "'firstAvailable': [{'name': 'x', 'deviceClassName': 'gpu.partita.dev'}, {'name': 'y', 'deviceClassName': '"
                + className + "'}]"))) {
      assertThat(create("resource.k8s.io", "resourceclaims", "{'spec': " + other + "}")).as(other)
          .isEqualTo(Verdict.allowed());
    }
  }

  @Test
  void anObjectWithManyErrorsGetsAShortAnswer() throws JsonProcessingException {
    String fields =
        IntStream.range(0, 5000).mapToObj(i -> "'" + "x".repeat(500) + i + "': 1").collect(Collectors.joining(", "));
    Verdict verdict = create("resource.k8s.io", "resourceclaims",
        "{'spec': {'devices': {'config': [" + config("{" + HEAD + ", " + fields + "}") + "]}}}");
    assertThat(verdict)
        .isInstanceOfSatisfying(
            Verdict.Invalid.class,
            invalid -> assertThat(invalid.message()).startsWith("spec.devices.config[0].opaque.parameters.xxx")
                .endsWith("; and 4980 more").hasSizeLessThan(8 << 10));
    assertThat(ReviewCodec.encode("1", verdict)).hasSizeLessThan(128 << 10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "[]", "'text'", "{'driver': 'gpu.partita.dev'}"})
  void parametersThatAreNoObjectAreRefused(String parameters) throws JsonProcessingException {
    assertThat(
        create("resource.k8s.io", "resourceclaims", "{'spec': {'devices': {'config': [" + config(parameters) + "]}}}"))
        .isInstanceOf(Verdict.Invalid.class);
  }

  @Test
  void aClaimThatIsInOrderMayStillBeTooMuch() throws JsonProcessingException {
    String claim =
        "{'metadata': {'generateName': 'x-'}, 'spec': {'devices': {'requests': [{'name': 'gpu', 'exactly': {'deviceClassName': 'gpu.partita.dev'}}]}}}";
    assertThat(review.apply(request("resource.k8s.io", "resourceclaims", "CREATE", "poor", claim, "")))
        .isEqualTo(new Verdict.Forbidden("namespace quota q: no, 1 request", List.of()));
    assertThat(review.apply(request("resource.k8s.io", "resourceclaims", "CREATE", "rich", claim, "")))
        .isEqualTo(Verdict.allowed());
    assertThat(review.apply(request("resource.k8s.io", "resourceclaims", "UPDATE", "poor", claim, claim)))
        .as("it is there").isEqualTo(Verdict.allowed());
  }

  /**
   * What another driver is told in a claim that asks for a device of ours, too: the API bounds the length of each text,
   * but neither the depth nor the digits of a number.
   */
  static List<Arguments> parametersOfAnotherDriver() {
    return List.of(
        Arguments.of("{'a': " + "[".repeat(90) + "]".repeat(90) + "}", true),
        Arguments.of("{'a': " + "[".repeat(100) + "]".repeat(100) + "}", false),
        Arguments.of("{'a': " + "[".repeat(5_000) + "]".repeat(5_000) + "}", false),
        Arguments.of("{'a': " + "9".repeat(100) + "}", true),
        Arguments.of("{'a': " + "9".repeat(101) + "}", false),
        Arguments.of("{'a': 0." + "0".repeat(100) + "1}", false),
        Arguments.of("{'a': 1e308, 'b': 1e-400}", true),
        Arguments.of("{'a': 1e309}", false),
        Arguments.of("{'" + "a".repeat(512) + "': 1}", true),
        Arguments.of("{'" + "a".repeat(513) + "': 1}", false));
  }

  /** Otherwise quotas would count nothing for it while it waits, and kube-scheduler could allocate it. */
  @ParameterizedTest
  @MethodSource("parametersOfAnotherDriver")
  void aClaimForOurDevicesOfWhichInformersLeaveSomethingOutIsRefused(String parameters, boolean kept)
      throws Exception {
    String spec = "{'devices': {'requests': [{'name': 'a', 'exactly': {'deviceClassName': '%s'}}], 'config':"
        + " [{'opaque': {'driver': 'nic.example', 'parameters': " + parameters + "}}]}}";
    String others = spec.formatted("nic.example");
    String ours = spec.formatted("gpu.partita.dev");
    assertThat(sent("resourceclaims", "{'spec': " + others + "}")).isEqualTo(Verdict.allowed());
    assertRefused(sent("resourceclaims", "{'spec': " + ours + "}"), "spec.devices", kept);
    assertRefused(sent("resourceclaimtemplates", "{'spec': {'spec': " + ours + "}}"), "spec.spec.devices", kept);
  }

  private static void assertRefused(Verdict verdict, String path, boolean kept) {
    if (kept) {
      assertThat(verdict).isEqualTo(Verdict.allowed());
    } else {
      assertThat(verdict).isInstanceOfSatisfying(Verdict.Invalid.class,
          invalid -> assertThat(invalid.errors()).singleElement().asString()
              .startsWith(path + ": is too large: the controller keeps 64 KiB").endsWith("into a claim of its own"));
    }
  }

  /** Configs of another driver, each as long as the API takes them. */
  @Test
  void aClaimForOurDevicesWithMoreThanInformersKeepIsRefused() throws Exception {
    String config =
        "{'opaque': {'driver': 'nic.example', 'parameters': {'kind': '" + "x".repeat(10_000) + "'}}}";
    for (int configs : List.of(1, 8)) {
      String claim = "{'spec': {'devices': {'config': [" + String.join(",", Collections.nCopies(configs, config))
          + "], 'requests': [{'name': 'a', 'exactly': {'deviceClassName': '%s'}}]}}}";
      assertThat(sent("resourceclaims", claim.formatted("nic.example"))).isEqualTo(Verdict.allowed());
      assertRefused(sent("resourceclaims", claim.formatted("gpu.partita.dev")), "spec.devices", configs == 1);
    }
  }

  private Verdict sent(String resource, String object) throws ReviewCodec.BadReviewException {
    return review.apply(ReviewCodec.decode(ApiServerCall.review("resource.k8s.io", resource, "team",
        object.replace('\'', '"')).getBytes(StandardCharsets.UTF_8)));
  }

  /** Whoever reaches the port can ask so. It would be read anew for each request. */
  @Test
  void requestsAreNotLookedAtBesideAConfigThatIsLongerThanTheApiTakes() throws JsonProcessingException {
    String unknown = IntStream.range(0, 2000).mapToObj(i -> ", 'x" + i + "': 1").collect(Collectors.joining());
    String tolerates =
        "{'name': 'a', 'exactly': {'deviceClassName': 'gpu.partita.dev', 'tolerations': [{'operator': 'Exists'}]}}";
    for (String fields : List.of(", 'x': 1", unknown)) {
      int requests = fields.length() < 100 ? 1 : 0;
      assertThat(errors("resourceclaims", "{'spec': {'devices': {'config': [" + config("{" + HEAD + fields + "}")
          + "], 'requests': [" + tolerates + "]}}}")).filteredOn(error -> error.path().contains("requests"))
          .hasSize(requests);
    }
    assertThat(errors("resourceclaims", "{'spec': {'devices': {'config': [" + config("{" + HEAD + unknown + "}")
        + "]}}}")).hasSize(2000);
  }

  @Test
  void nodesAndQuotasAreHeldToTheirRules() throws JsonProcessingException {
    assertThat(create("gpu.partita.dev", "gpunodes", "{'metadata': {'name': 'n'}, 'spec': {'reservedMemory': '-1Gi'}}"))
        .isInstanceOfSatisfying(Verdict.Invalid.class,
            invalid -> assertThat(invalid.message()).isEqualTo("spec.reservedMemory: must not be negative: -1Gi"));
    assertThat(create("gpu.partita.dev", "gpunodes", "{'metadata': {'name': 'n'}, 'spec': {'allocator': 'Scheduler'}}"))
        .isEqualTo(Verdict.allowed());
    assertThat(create("gpu.partita.dev", "gpunodes", "{'metadata': {'name': 'n'}}")).as("spec takes its defaults")
        .isEqualTo(Verdict.allowed());
    assertThat(create("gpu.partita.dev", "gpuquotas",
        "{'metadata': {'name': 'q'}, 'spec': {'namespaceSelector': {}, 'limits': [{}]}}"))
        .isInstanceOfSatisfying(Verdict.Invalid.class,
            invalid -> assertThat(invalid.message()).startsWith("spec.limits[0]: limits nothing"));
    assertThat(create("gpu.partita.dev", "gpuquotas",
        "{'metadata': {'name': 'q'}, 'spec': {'limits': [{'guaranteed': {'cards': 1}}]}}"))
        .isInstanceOfSatisfying(Verdict.Allowed.class,
            allowed -> assertThat(allowed.warnings()).singleElement().asString().startsWith("spec.namespaceSelector"));
  }

  @Test
  void whatWasWrongAlreadyAndIsNotTouchedMayBeWritten() throws JsonProcessingException {
    String wrong = "{'metadata': {'name': 'q'}, 'spec': {'namespaceSelector': {}, 'limits': [{}]}}";
    String labelled =
        "{'metadata': {'name': 'q', 'labels': {'a': 'b'}}, 'spec': {'namespaceSelector': {}, 'limits': [{}]}}";
    String other = "{'metadata': {'name': 'q'}, 'spec': {'namespaceSelector': {}, 'limits': [{'name': 'a'}]}}";
    assertThat(review.apply(request("gpu.partita.dev", "gpuquotas", "UPDATE", "", labelled, wrong)))
        .isEqualTo(Verdict.allowed());
    assertThat(review.apply(request("gpu.partita.dev", "gpuquotas", "UPDATE", "", other, wrong)))
        .isInstanceOf(Verdict.Invalid.class);
    String going =
        "{'metadata': {'name': 'q', 'deletionTimestamp': '2026-01-01T00:00:00Z'}, 'spec': {'limits': [{'name': 'a'}]}}";
    assertThat(review.apply(request("gpu.partita.dev", "gpuquotas", "UPDATE", "", going, wrong)))
        .isEqualTo(Verdict.allowed());
  }

  @ParameterizedTest
  @ValueSource(strings = {"'x'", "{'spec': 1}", "{'spec': []}", "{'spec': {'limits': 7}}",
    "{'spec': {'limits': [null]}}", "{'spec': {'publish': [null], 'limits': [{'models': [null]}]}}",
    "{'spec': {'devices': {'config': 'x', 'requests': 'x'}}}",
    "{'spec': {'devices': {'requests': [null, {'exactly': null, 'firstAvailable': [null]}, {'exactly': {'deviceClassName': 'gpu.partita.dev', 'tolerations': [null], 'selectors': [null], 'capacity': {'requests': {'memory': '1Gi'}}}}], 'config': [null, {'requests': null}]}}}",
    "{'metadata': 'x'}", "{}"})
  void whatNoSchemaWouldLetThroughIsNoHarm(String object) throws JsonProcessingException {
    for (String resource : List.of("gpu.partita.dev/gpunodes", "gpu.partita.dev/gpuquotas",
        "resource.k8s.io/resourceclaims", "resource.k8s.io/resourceclaimtemplates", "resource.k8s.io/deviceclasses",
        "/pods")) {
      String[] names = resource.split("/", 2);
      assertThat(create(names[0], names[1], object)).isInstanceOfAny(Verdict.Allowed.class, Verdict.Invalid.class);
    }
  }

  private List<FieldError> errors(String resource, String object) throws JsonProcessingException {
    return create("resource.k8s.io", resource,
        object) instanceof Verdict.Invalid(List<FieldError> errors, List<String> _) ? errors : List.of();
  }

  private static String config(String parameters) {
    return "{'opaque': {'driver': 'gpu.partita.dev', 'parameters': " + parameters + "}}";
  }

  private Verdict create(String group, String resource, String object) throws JsonProcessingException {
    return review.apply(request(group, resource, "CREATE", "default", object, ""));
  }

  private static AdmissionRequest request(
      String group,
      String resource,
      String operation,
      String namespace,
      String object,
      String oldObject)
      throws JsonProcessingException {
    return new AdmissionRequest("1", group, resource, operation, namespace, tree(object), tree(oldObject));
  }

  private static JsonNode tree(String json) throws JsonProcessingException {
    return json.isEmpty() ? MissingNode.getInstance() : JSON.readTree(json.replace('\'', '"'));
  }
}
