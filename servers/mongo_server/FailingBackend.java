import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractMongoBackend;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.bson.BsonTimestamp;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.oplog.Oplog;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.channel.Channel;
import java.lang.reflect.Field;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Adds to a backend what the tests need and what it lacks.
 *
 * <ul>
 *   <li>{@code configureFailPoint} with {@code failCommand}, as mongod has it: fail commands with an
 *       error code, report an error of the write concern after the write, or close the connection.
 *   <li>With {@code commit}, every write is on disk before it is answered, so that a kill loses none.
 *   <li>Capped collections are listed as such, and grow without bound.
 *   <li>As a replica set it says so, and change streams carry the operation time that drivers need.
 *       There a document that `findAndModify` has changed is reported too, as an insert; an update
 *       names no document, which is left as it is.
 * </ul>
 */
final class FailingBackend implements MongoBackend {
  private static final Set<String> READS =
      Set.of("find", "aggregate", "getMore", "count", "distinct", "listCollections", "listIndexes",
          "ping", "ismaster", "isMaster", "buildinfo", "buildInfo", "killCursors", "serverStatus");

  private final MongoBackend data;
  private final Runnable commit;
  private final String replicaSet;
  private final String address;
  private final FailPoint failPoint = new FailPoint();
  private Oplog oplog;
  private final Set<String> capped = ConcurrentHashMap.newKeySet();

  FailingBackend(MongoBackend data, Runnable commit, String replicaSet, String address) {
    this.data = data;
    this.commit = commit;
    this.replicaSet = replicaSet;
    this.address = address;
  }

  /** One fail point: which commands fail, how, and how often still. */
  private static final class FailPoint {
    private Document settings = new Document();
    private int left = 0;

    synchronized void set(Document command) {
      Object mode = command.get("mode");
      settings = command.get("data") instanceof Document ? (Document) command.get("data") : new Document();
      if (mode instanceof Document) {
        left = ((Number) ((Document) mode).get("times")).intValue();
      } else {
        left = "alwaysOn".equals(mode) ? Integer.MAX_VALUE : 0;
      }
    }

    synchronized Document hit(String command) {
      Object names = settings.get("failCommands");
      if (left == 0 || !(names instanceof Collection) || !((Collection<?>) names).contains(command)) {
        return new Document();
      }
      left = left == Integer.MAX_VALUE ? left : left - 1;
      return settings;
    }
  }

  @Override
  public Document handleMessage(MongoMessage message) {
    Document command = message.getDocument();
    String name = command.keySet().iterator().next();
    if (name.equals("configureFailPoint")) {
      failPoint.set(command);
      return new Document("ok", 1.0);
    }
    Document failure = failPoint.hit(name);
    if (Boolean.TRUE.equals(failure.get("closeConnection"))) {
      message.getChannel().close();
      return new Document("ok", 0.0);
    }
    if (failure.get("errorCode") != null) {
      String text = "Failing command via 'failCommand' failpoint";
      return new Document("ok", 0.0).append("errmsg", text).append("code", failure.get("errorCode"));
    }
    if (name.equals("create") && command.remove("capped") != null) {
      command.remove("size");
      capped.add((String) command.get("create"));
    }
    Document reply = READS.contains(name) ? data.handleMessage(message) : write(message);
    if (name.equals("findAndModify") && replicaSet != null) {
      report(message, reply);
    }
    if (name.equals("listCollections")) {
      showCapped(reply);
    }
    if (failure.get("writeConcernError") != null) {
      reply.put("writeConcernError", failure.get("writeConcernError"));
    }
    return inReplicaSet(name, reply);
  }

  /** Report a changed document, which the library does not for this command. */
  private void report(MongoMessage message, Document reply) {
    Document command = message.getDocument();
    Object changed = reply.get("value");
    if (changed instanceof Document && command.get("remove") == null) {
      String collection = message.getDatabaseName() + "." + command.get("findAndModify");
      Document key = new Document("_id", ((Document) changed).get("_id"));
      oplog.handleInsert(collection, List.of(key)); // an update would not name the document
    }
  }

  private void showCapped(Document reply) {
    Object batch = ((Document) reply.get("cursor")).get("firstBatch");
    for (Object collection : (Collection<?>) batch) {
      if (capped.contains(((Document) collection).get("name"))) {
        ((Document) collection).put("options", new Document("capped", true));
      }
    }
  }

  @Override
  public Document handleCommand(Channel channel, String database, String name, Document query) {
    return inReplicaSet(name, data.handleCommand(channel, database, name, query));
  }

  /** On disk: one write at a time, since a commit must not contain half of another. */
  private Document write(MongoMessage message) {
    if (commit == null) {
      return data.handleMessage(message);
    }
    synchronized (commit) {
      try {
        return data.handleMessage(message);
      } finally {
        commit.run();
      }
    }
  }

  private Document inReplicaSet(String name, Document reply) {
    if (replicaSet == null) {
      return reply;
    }
    if (name.equalsIgnoreCase("ismaster")) {
      reply.append("setName", replicaSet).append("setVersion", 1).append("secondary", false);
      reply.append("hosts", List.of(address)).append("me", address).append("primary", address);
    }
    if (name.equals("aggregate") && reply.get("cursor") != null) {
      reply.append("operationTime", new BsonTimestamp(data.getClock().instant(), 0));
    }
    return reply;
  }

  @Override
  public QueryResult handleQuery(MongoQuery query) {
    return data.handleQuery(query);
  }

  @Override
  public void handleClose(Channel channel) {
    data.handleClose(channel);
  }

  @Override
  public void dropDatabase(String name) {
    data.dropDatabase(name);
  }

  @Override
  public Collection<Document> getCurrentOperations(MongoQuery query) {
    return data.getCurrentOperations(query);
  }

  @Override
  public Document getServerStatus() {
    return data.getServerStatus();
  }

  @Override
  public void closeCursors(List<Long> ids) {
    data.closeCursors(ids);
  }

  @Override
  public Clock getClock() {
    return data.getClock();
  }

  @Override
  public void enableOplog() {
    data.enableOplog();
    try {
      Field field = AbstractMongoBackend.class.getDeclaredField("oplog");
      field.setAccessible(true);
      oplog = (Oplog) field.get(data);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  @Override
  public void disableOplog() {
    data.disableOplog();
  }

  @Override
  public MongoDatabase resolveDatabase(String name) {
    return data.resolveDatabase(name);
  }

  @Override
  public MongoBackend version(MongoVersion version) {
    data.version(version);
    return this;
  }

  @Override
  public void close() {
    data.close();
  }
}
