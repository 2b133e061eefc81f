import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A process with Redisson's locks that a test drives by lines.
 *
 * <p>Arguments: single | cluster | red, then host:port,host:port…, then lockWatchdogTimeout in ms, then a prefix for a
 * NameMapper, or "-".
 *
 * <p>A name is that of an RLock. KIND@NAME is a lock of another kind: fenced, spin, fair, read or write.
 *
 * <p>A line of the input is "id thread command name argument…". Commands of one thread run one after the other on one
 * Java thread, because a lock belongs to a thread. A line of the output is "id ok value" or "id error class: message". The
 * end of the input ends the process.
 */
public final class Peer {
    private static final String ADD = "redis.call('set', KEYS[1], ARGV[1]) "
            + "redis.call('rpush', KEYS[2], ARGV[1] .. ' ' .. ARGV[2]) return 'ok'";

    private static final String ENTER = "redis.call('hincrby', KEYS[1], ARGV[1], 1) "
            + "local readers = tonumber(redis.call('hget', KEYS[1], 'readers') or 0) "
            + "local writers = tonumber(redis.call('hget', KEYS[1], 'writers') or 0) "
            + "if writers == 0 or (writers == 1 and readers == 0) then return '0' end return '1'";
    private static final String LEAVE = "redis.call('hincrby', KEYS[1], ARGV[1], -1) return 'ok'";

    private final List<RedissonClient> clients = new ArrayList<>();

    private Peer(String[] args) {
        String[] addresses = args[1].split(",");
        int clients = args[0].equals("red") ? addresses.length : 1;
        for (int i = 0; i < clients; i++) {
            Config config = new Config().setLockWatchdogTimeout(Long.parseLong(args[2]));
            if (!args[3].equals("-")) {
                Prefix.set(config, args[3]);
            }
            if (args[0].equals("cluster")) {
                config.useClusterServers().addNodeAddress("redis://" + addresses[0]);
            } else {
                config.useSingleServer().setAddress("redis://" + addresses[i]).setConnectionMinimumIdleSize(2)
                        .setTimeout(60_000); // a busy machine stalls for longer than the 3 s of the default
            }
            this.clients.add(Redisson.create(config));
        }
    }

    /** The lock of a name. KIND@NAME is a lock of another kind than RLock. */
    private RLock lock(String name) {
        String[] parts = name.split("@", 2);
        String kind = parts.length == 2 ? parts[0] : "lock";
        RLock[] locks = clients.stream().map(c -> lock(c, kind, parts[parts.length - 1])).toArray(RLock[]::new);
        return locks.length == 1 ? locks[0] : new RedissonRedLock(locks);
    }

    private static RLock lock(RedissonClient client, String kind, String name) {
        switch (kind) {
            case "lock":
                return client.getLock(name);
            case "fenced":
                return client.getFencedLock(name);
            case "spin":
                return client.getSpinLock(name);
            case "fair":
                return client.getFairLock(name);
            case "read":
                return client.getReadWriteLock(name).readLock();
            case "write":
                return client.getReadWriteLock(name).writeLock();
            default:
                throw new IllegalArgumentException("kind " + kind);
        }
    }

    private String run(String command, String name, String[] args) throws Exception {
        switch (command) {
            case "lock":
                lock(name).lock();
                return "locked";
            case "try":
                return "" + lock(name).tryLock();
            case "wait":
                return "" + lock(name).tryLock(Long.parseLong(args[0]), TimeUnit.MILLISECONDS);
            case "unlock":
                lock(name).unlock();
                return "unlocked";
            case "force":
                return "" + lock(name).forceUnlock();
            case "count":
                return "" + lock(name).getHoldCount();
            case "fenced":
                return "" + clients.get(0).getFencedLock(name).lockAndGetToken();
            case "fenced-unlock":
                clients.get(0).getFencedLock(name).unlock();
                return "unlocked";
            case "work":
                return "" + work(name, args[0], Integer.parseInt(args[1]), args[2]);
            case "shift":
                return shift(name, args[0], Long.parseLong(args[1]));
            default:
                throw new IllegalArgumentException("command " + command);
        }
    }

    /** Increments a counter under the lock until it has the target. The counter itself is not protected. */
    private int work(String name, String counter, int target, String me) {
        RLock lock = lock(name);
        int done = 0;
        while (true) {
            lock.lock();
            try {
                Object now = clients.get(0).getBucket(counter, StringCodec.INSTANCE).get();
                int value = now == null ? 0 : Integer.parseInt(now.toString());
                if (value >= target) {
                    return done;
                }
                clients.get(0).getScript(StringCodec.INSTANCE).eval(RScript.Mode.READ_WRITE, ADD, RScript.ReturnType.VALUE,
                        List.of(counter, counter + ":log"), "" + (value + 1), me);
                done++;
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Takes the lock again and again for a time. A writer increments an unprotected counter, in two steps. All note in a hash
     * that they are inside, as shared or exclusive. The answer is "LOCKS OVERLAPS".
     */
    private String shift(String name, String counter, long millis) throws Exception {
        RLock lock = lock(name);
        boolean reads = name.startsWith("read@");
        long end = System.currentTimeMillis() + millis;
        int locks = 0;
        int overlaps = 0;
        while (System.currentTimeMillis() < end) {
            if (!lock.tryLock(end - System.currentTimeMillis(), TimeUnit.MILLISECONDS)) {
                break;
            }
            try {
                locks++;
                overlaps += inside(counter, reads);
            } finally {
                lock.unlock();
            }
        }
        return locks + " " + overlaps;
    }

    private int inside(String counter, boolean reads) throws Exception {
        RScript script = clients.get(0).getScript(StringCodec.INSTANCE);
        List<Object> key = List.of(counter + ":inside");
        String mine = reads ? "readers" : "writers";
        Object beside = script.eval(RScript.Mode.READ_WRITE, ENTER, RScript.ReturnType.VALUE, key, mine);
        Object now = clients.get(0).getBucket(counter, StringCodec.INSTANCE).get();
        Thread.sleep(2);
        if (!reads) {
            int value = now == null ? 0 : Integer.parseInt(now.toString());
            clients.get(0).getBucket(counter, StringCodec.INSTANCE).set("" + (value + 1));
        }
        script.eval(RScript.Mode.READ_WRITE, LEAVE, RScript.ReturnType.VALUE, key, mine);
        return beside.toString().equals("0") ? 0 : 1;
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        Peer peer = new Peer(args);
        Map<String, ExecutorService> threads = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("0 ok ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ", -1);
            String[] rest = java.util.Arrays.copyOfRange(words, 4, words.length);
            threads.computeIfAbsent(words[1], t -> Executors.newSingleThreadExecutor()).execute(() -> {
                try {
                    say(words[0] + " ok " + peer.run(words[2], words[3], rest));
                } catch (Throwable e) {
                    say(words[0] + " error " + e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).replace('\n', ' '));
                }
            });
        }
        peer.clients.forEach(RedissonClient::shutdown);
        System.exit(0);
    }
}
