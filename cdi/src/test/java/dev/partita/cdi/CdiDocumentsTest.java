package dev.partita.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CdiDocumentsTest {
  private static final String DEVICES = "'devices': [{'name': 'a', 'containerEdits': {'env': ['A=b']}}]";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'cdiVersion': '0.8.0', 'kind': 'vendor.com/class', " + DEVICES + "}",
        "{'cdiVersion': '0.3.0', 'kind': 'v/c', " + DEVICES + "}",
        "{'cdiVersion': '1.0.0', 'kind': 'a.b-c_d.com/gpu-1', " + DEVICES + ", 'containerEdits': {}}",
        "{'cdiVersion': '0.8.0', 'kind': 'v/c', 'annotations': {'example.com/claim': 'x y', 'k': ''}, " + DEVICES + "}",
        "{'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': [{'name': '0:1.x_y-2', 'containerEdits': {'additionalGids': [0, 44]}}]}",
        "{'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': [{'name': 'a', 'containerEdits': {'env': ['A=', 'B=c=d']}}]}",
        "{'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': [{'name': 'a', 'containerEdits': {'deviceNodes': [{'path': '/dev/x',"
            + " 'hostPath': '/dev/y', 'type': 'c', 'major': 195, 'minor': 0, 'fileMode': 438, 'permissions': 'rw', 'uid': 0, 'gid': 5},"
            + " {'path': '/dev/z', 'permissions': 'none'}]}}]}",
        "{'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': [{'name': 'a', 'containerEdits': {'mounts': [{'hostPath': '/a',"
            + " 'containerPath': '/b', 'options': ['ro'], 'type': 'bind'}], 'hooks': [{'hookName': 'createContainer', 'path': '/h',"
            + " 'args': ['h'], 'env': ['A=b'], 'timeout': 3}]}}]}",
      })
  void aGoodDocumentIsReadAndWrittenAsItIs(String document) throws CdiFormatException {
    CdiSpec spec = read(document);
    byte[] written = CdiJson.write(spec);
    assertThat(CdiJson.read(written, "again")).isEqualTo(spec);
    assertThat(CdiJson.write(spec)).isEqualTo(written);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "'cdiVersion': '0.8', 'kind': 'v/c', DEVICES                    | cdiVersion is not a known version",
        "'kind': 'v/c', DEVICES                                         | cdiVersion is not a known version",
        "'cdiVersion': '0.8.0', 'kind': 'vc', DEVICES                   | kind must begin with a vendor",
        "'cdiVersion': '0.8.0', 'kind': '1v/c', DEVICES                 | kind must begin with a vendor",
        "'cdiVersion': '0.8.0', 'kind': 'v./c', DEVICES                 | kind must begin with a vendor",
        "'cdiVersion': '0.8.0', 'kind': 'v/c/d', DEVICES                | kind must end with a class",
        "'cdiVersion': '0.8.0', 'kind': 'v/', DEVICES                   | kind must end with a class",
        "'cdiVersion': '0.8.0', 'kind': 'v/c'                           | devices must not be empty",
        "'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': []            | devices must not be empty",
        "'cdiVersion': '0.8.0', 'kind': 'v/c', 'annotations': {'a b': ''}, DEVICES | annotations must have keys",
        "'cdiVersion': '0.8.0', 'kind': 'v/c', 'annotations': {'A_/b': ''}, DEVICES | annotations must have keys",
        "ONE 'a/b', 'containerEdits': {'env': ['A=b']}}]                | devices[0].name must be letters",
        "ONE '-a', 'containerEdits': {'env': ['A=b']}}]                 | devices[0].name must be letters",
        "ONE 'a:', 'containerEdits': {'env': ['A=b']}}]                 | devices[0].name must be letters",
        "ONE 'a', 'containerEdits': {}}]                                | devices[0].containerEdits must not be empty",
        "ONE 'a'}]                                                      | devices[0].containerEdits must not be empty",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}, {'name': 'a', 'containerEdits': {'env': ['A=b']}}] | devices[1].name is there twice",
        "ONE 'a', 'containerEdits': {'env': ['A']}}]                    | devices[0].containerEdits.env[0] must be NAME=value",
        "ONE 'a', 'containerEdits': {'env': ['=A']}}]                   | devices[0].containerEdits.env[0] must be NAME=value",
        "ONE 'a', 'containerEdits': {'deviceNodes': [{'path': ''}]}}]   | devices[0].containerEdits.deviceNodes[0].path must be an absolute path",
        "ONE 'a', 'containerEdits': {'deviceNodes': [{'path': '/d', 'hostPath': 'd'}]}}] | deviceNodes[0].hostPath must be an absolute path",
        "ONE 'a', 'containerEdits': {'deviceNodes': [{'path': '/d', 'type': 'x'}]}}] | deviceNodes[0].type must be b, c, u or p",
        "ONE 'a', 'containerEdits': {'deviceNodes': [{'path': '/d', 'permissions': 'rx'}]}}] | deviceNodes[0].permissions must be out of rwm",
        "ONE 'a', 'containerEdits': {'deviceNodes': [{'path': '/d', 'major': -1}]}}] | deviceNodes[0].major must not be negative",
        "ONE 'a', 'containerEdits': {'mounts': [{'containerPath': '/d'}]}}] | mounts[0].hostPath must be an absolute path",
        "ONE 'a', 'containerEdits': {'mounts': [{'hostPath': '/d', 'containerPath': 'd'}]}}] | mounts[0].containerPath must be an absolute path",
        "ONE 'a', 'containerEdits': {'hooks': [{'hookName': 'preStart', 'path': '/h'}]}}] | hooks[0].hookName is not an OCI hook",
        "ONE 'a', 'containerEdits': {'hooks': [{'hookName': 'prestart', 'path': 'h'}]}}] | hooks[0].path must be an absolute path",
        "ONE 'a', 'containerEdits': {'hooks': [{'hookName': 'prestart', 'path': '/h', 'env': ['x']}]}}] | hooks[0].env[0] must be NAME=value",
        "ONE 'a', 'containerEdits': {'hooks': [{'hookName': 'prestart', 'path': '/h', 'timeout': 0}]}}] | hooks[0].timeout must be more than 0",
        "ONE 'a', 'containerEdits': {'hooks': [{'hookName': 'prestart', 'path': '/h', 'args': ['h', '\\u0000']}]}}] | hooks[0].args[1] must not hold a NUL",
        "ONE 'a', 'containerEdits': {'additionalGids': [-1]}}]          | additionalGids[0] must be a group id",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}], 'containerEdits': {'env': ['x']} | containerEdits.env[0] must be NAME=value",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}], 'continerEdits': {} | continerEdits",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}], 'kind': 'v/d'   | Duplicate field 'kind'",
        "ONE 'a', 'containerEdits': {'env': [null]}}]                   | Invalid `null` value encountered for property \"env\"",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}, null]            | Invalid `null` value encountered for property \"devices\"",
        "ONE 'a', 'containerEdits': {'env': ['A=b']}}], 'annotations': {'a': null} | Invalid `null` value encountered for property \"annotations\"",
      })
  void aBadDocumentIsRefusedWithThePlace(String members, String problem) {
    String document =
        "{" + members.replace("DEVICES", DEVICES).replace("ONE",
            "'cdiVersion': '0.8.0', 'kind': 'v/c', 'devices': [{'name':") + "}";
    assertThatThrownBy(() -> read(document))
        .isInstanceOf(CdiFormatException.class)
        .hasMessageStartingWith("the document is not a valid CDI spec")
        .hasMessageContaining(problem);
  }

  @Test
  void whatJacksonSaysOfADocumentIsTheCause() {
    assertThatThrownBy(() -> read("{")).hasCauseInstanceOf(JsonProcessingException.class);
  }

  @Test
  void aDocumentThatIsNullIsNoSpec() {
    assertThatThrownBy(() -> read("null")).isInstanceOf(CdiFormatException.class).hasMessageContaining("it is null");
  }

  @Test
  void anInvalidSpecIsNotWritten() {
    CdiSpec empty = CdiSpec.of(new CdiKind("v", "c"), Map.of(), List.of(), ContainerEdits.NONE);
    assertThatThrownBy(() -> CdiJson.write(empty)).hasMessageContaining("devices must not be empty");
  }

  @Test
  void whatIsNotThereIsNotWritten() {
    DeviceNode node =
        new DeviceNode("/dev/x", Optional.empty(), "", 0, 0, OptionalInt.empty(), "", Optional.empty(),
            Optional.empty());
    CdiSpec spec =
        CdiSpec.of(
            new CdiKind("v", "c"),
            Map.of(),
            List.of(new CdiDevice("a", ContainerEdits.of(List.of(), List.of(node), List.of()))),
            ContainerEdits.NONE);
    assertThat(new String(CdiJson.write(spec), StandardCharsets.UTF_8).replaceAll("\\s", ""))
        .isEqualTo(
            "{\"cdiVersion\":\"0.8.0\",\"kind\":\"v/c\",\"devices\":[{\"name\":\"a\",\"containerEdits\":"
                + "{\"deviceNodes\":[{\"path\":\"/dev/x\"}]}}]}");
  }

  private static CdiSpec read(String document) throws CdiFormatException {
    return CdiJson.read(document.replace('\'', '"').getBytes(StandardCharsets.UTF_8), "the document");
  }
}
