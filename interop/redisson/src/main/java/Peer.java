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
import org.redisson.config.NameMapper;

/**
 * A process with Redisson's locks that a test drives by lines.
 *
 * <p>Arguments: single | cluster | red, then host:port,host:port…, then lockWatchdogTimeout in ms, then a prefix for a
 * NameMapper, or "-".
 *
 * <p>A line of the input is "id thread command name argument…". Commands of one thread run one after the other on one
 * Java thread, because a lock belongs to a thread. A line of the output is "id ok value" or "id error class: message". The
 * end of the input ends the process.
 */
public final class Peer {
    private static final String ADD = "redis.call('set', KEYS[1], ARGV[1]) "
            + "redis.call('rpush', KEYS[2], ARGV[1] .. ' ' .. ARGV[2]) return 'ok'";

    private final List<RedissonClient> clients = new ArrayList<>();

    private Peer(String[] args) {
        String[] addresses = args[1].split(",");
        int clients = args[0].equals("red") ? addresses.length : 1;
        for (int i = 0; i < clients; i++) {
            Config config = new Config().setLockWatchdogTimeout(Long.parseLong(args[2]));
            if (!args[3].equals("-")) {
                config.setNameMapper(new Prefix(args[3]));
            }
            if (args[0].equals("cluster")) {
                config.useClusterServers().addNodeAddress("redis://" + addresses[0]);
            } else {
                config.useSingleServer().setAddress("redis://" + addresses[i]).setConnectionMinimumIdleSize(2);
            }
            this.clients.add(Redisson.create(config));
        }
    }

    private record Prefix(String prefix) implements NameMapper {
        @Override
        public String map(String name) {
            return prefix + name;
        }

        @Override
        public String unmap(String name) {
            return name.substring(prefix.length());
        }
    }

    private RLock lock(String name) {
        if (clients.size() == 1) {
            return clients.get(0).getLock(name);
        }
        return new RedissonRedLock(clients.stream().map(c -> c.getLock(name)).toArray(RLock[]::new));
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
