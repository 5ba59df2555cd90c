package dev.partita.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What names of devices look like: they are labels, as the API server wants them to be. */
final class DeviceNameForm {
  private static final Pattern FORM =
      Pattern.compile(
          "gpu-(0|[1-9][0-9]{0,3})(-shared|-opaque|-mig-([a-z0-9]+(?:-[a-z0-9]+)*)-(0|[1-9][0-9]?)(-shared)?)?");

  private DeviceNameForm() {}

  static Optional<DeviceName> parse(String name) {
    if (name.length() > DnsName.LONGEST_LABEL) { // matching it would take stack for every part of it
      return Optional.empty();
    }
    Matcher form = FORM.matcher(name);
    if (!form.matches()) {
      return Optional.empty();
    }
    int index = Integer.parseInt(form.group(1));
    if (form.group(2) == null) {
      return Optional.of(new DeviceName.Whole(index));
    }
    if (form.group(2).equals("-opaque")) {
      return Optional.of(new DeviceName.Opaque(index));
    }
    if (form.group(3) == null) {
      return Optional.of(new DeviceName.Shared(index));
    }
    MigSlot slot = new MigSlot(form.group(3), Integer.parseInt(form.group(4)));
    return Optional
        .of(form.group(5) == null ? new DeviceName.Mig(index, slot) : new DeviceName.MigShared(index, slot));
  }
}
