import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractMongoBackend;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.h2.mvstore.MVStore;

/**
 * A server that speaks MongoDB's protocol, on a port of this machine.
 *
 * <p>Options, each with a value: {@code --port}; {@code --file} keeps the data there, else they are
 * in memory; {@code --version} and {@code --wire} are what it says of itself; {@code --replica-set}
 * makes it the only member of one, with change streams; {@code --certificate} and {@code --key} make
 * it speak TLS.
 */
public final class MongoServerForTests {
  private static final String ADDRESS = "127.0.0.1";

  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = new HashMap<>();
    for (int index = 0; index + 1 < arguments.length; index += 2) {
      options.put(arguments[index], arguments[index + 1]);
    }
    int port = Integer.parseInt(options.get("--port"));
    String replicaSet = options.get("--replica-set");
    MongoServer server = new MongoServer(backend(options, ADDRESS + ":" + port));
    if (replicaSet != null) {
      server.enableOplog();
    }
    if (options.containsKey("--key")) {
      server.enableSsl(key(options.get("--key")), null, certificate(options.get("--certificate")));
    }
    server.bind(ADDRESS, port);
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    Thread.currentThread().join();
  }

  private static MongoBackend backend(Map<String, String> options, String address) {
    String file = options.get("--file");
    MVStore store = file == null ? null : new MVStore.Builder().fileName(file).autoCommitDisabled().open();
    AbstractMongoBackend data = store == null ? new MemoryBackend() : new H2Backend(store);
    data.version(version(options.get("--version"), Integer.parseInt(options.get("--wire"))));
    Runnable commit = store == null ? null : () -> commit(store);
    return new FailingBackend(data, commit, options.get("--replica-set"), address);
  }

  /** A write that is not on disk must not be answered, so a failure ends the process. */
  private static void commit(MVStore store) {
    try {
      store.commit();
    } catch (RuntimeException error) {
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
  }

  private static MongoVersion version(String dotted, int wire) {
    List<Integer> numbers =
        Arrays.stream(dotted.split("\\.")).map(Integer::valueOf).collect(Collectors.toList());
    return new MongoVersion() {
      @Override
      public List<Integer> getVersionArray() {
        return numbers;
      }

      @Override
      public int getWireVersion() {
        return wire;
      }
    };
  }

  private static PrivateKey key(String file) throws Exception {
    String text = Files.readString(Path.of(file)).replaceAll("-----[^-]+-----|\\s", "");
    byte[] bytes = Base64.getDecoder().decode(text);
    return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(bytes));
  }

  private static X509Certificate certificate(String file) throws Exception {
    try (InputStream stream = new FileInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(stream);
    }
  }
}
