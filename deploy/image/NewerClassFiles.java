import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.constant.ClassDesc;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes a jar's class files of before Java 6 anew, as of Java 8. An AOT cache (JEP 483) leaves out older ones, for it
 * holds classes that are verified already, and these can only be verified as they were of old. Picocli is compiled for
 * Java 5; read from its jar it takes half of the plugin's time to start.
 *
 * <pre>java NewerClassFiles.java JAR...</pre>
 */
final class NewerClassFiles {
  private static final int FIRST_WITH_STACK_MAPS = 50;

  private NewerClassFiles() {}

  public static void main(String[] jars) throws IOException {
    for (String jar : jars) {
      rewrite(Path.of(jar));
    }
  }

  private static void rewrite(Path jar) throws IOException {
    FileTime modified = Files.getLastModifiedTime(jar);
    try (FileSystem files = FileSystems.newFileSystem(URI.create("jar:" + jar.toUri()), Map.of());
        URLClassLoader classes = new URLClassLoader(new URL[]{jar.toUri().toURL()});
        Stream<Path> all = Files.walk(files.getPath("/"))) {
      List<Path> classFiles = all.filter(file -> file.toString().endsWith(".class")).toList();
      for (Path file : classFiles) {
        byte[] bytes = Files.readAllBytes(file);
        if (bytes[7] < FIRST_WITH_STACK_MAPS && bytes[6] == 0) {
          Files.write(file, newer(bytes, classes));
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    Files.setLastModifiedTime(jar, modified);
  }

  private static byte[] newer(byte[] bytes, ClassLoader classes) {
    ClassFile tool =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(classes)
                    .orElse(ClassHierarchyResolver.defaultResolver())
                    .orElse(name -> ClassHierarchyResolver.ClassHierarchyInfo.ofClass(ClassDesc.of("java.lang.Object")))
                    .cached()),
            ClassFile.StackMapsOption.STACK_MAPS_WHEN_REQUIRED);
    ClassModel old = tool.parse(bytes);
    return tool.build(
        old.thisClass().asSymbol(),
        builder -> {
          builder.transform(old, ClassTransform.ACCEPT_ALL);
          builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
        });
  }
}
