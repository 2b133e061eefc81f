import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A process with one of Redisson's shared locks. The lines are those of remote_test.go.
 *
 * <p>Arguments: the kind, host:port, and a time in ms. The kinds are redisson-read and redisson-write (RReadWriteLock; the
 * time is the lockWatchdogTimeout), redisson-permits (RPermitExpirableSemaphore without a lease time) and redisson-leased
 * (the same; the time is the lease time).
 */
public final class Shared {
    /** The number of permits, as places in shift_test.go. */
    private static final int PERMITS = 2;

    private final String kind;
    private final long time;
    private final RedissonClient client;
    private final Map<String, String> permits = new HashMap<>();

    private Shared(String[] args) {
        kind = args[0];
        time = Long.parseLong(args[2]);
        Config config = new Config().setLockWatchdogTimeout(time);
        config.useSingleServer().setAddress("redis://" + args[1]).setConnectionMinimumIdleSize(2);
        client = Redisson.create(config);
    }

    private String lock(String verb, String name) throws Exception {
        RReadWriteLock both = client.getReadWriteLock(name);
        var lock = kind.equals("redisson-read") ? both.readLock() : both.writeLock();
        switch (verb) {
            case "try":
                return lock.tryLock() ? "ok" : "refused";
            case "lock":
                lock.lock();
                return "ok";
            case "holds": // nothing tells the holder of a loss
                return "ok";
            case "unlock":
                lock.unlock();
                return "ok";
            default:
                throw new IllegalArgumentException("verb " + verb);
        }
    }

    private String permit(String verb, String name) throws Exception {
        RPermitExpirableSemaphore semaphore = client.getPermitExpirableSemaphore(name);
        boolean leased = kind.equals("redisson-leased");
        String id;
        switch (verb) {
            case "try":
                semaphore.trySetPermits(PERMITS);
                id = leased ? semaphore.tryAcquire(0, time, TimeUnit.MILLISECONDS) : semaphore.tryAcquire();
                if (id == null) {
                    return "refused";
                }
                break;
            case "lock":
                semaphore.trySetPermits(PERMITS);
                id = leased ? semaphore.acquire(time, TimeUnit.MILLISECONDS) : semaphore.acquire();
                break;
            case "holds": // nothing tells the holder of a loss
                return "ok";
            case "unlock":
                semaphore.release(permits.remove(name));
                return "ok";
            default:
                throw new IllegalArgumentException("verb " + verb);
        }
        permits.put(name, id);
        return "ok";
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        Shared peer = new Shared(args);
        boolean counts = args[0].equals("redisson-permits") || args[0].equals("redisson-leased");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ", 2);
            try {
                say(counts ? peer.permit(words[0], words[1]) : peer.lock(words[0], words[1]));
            } catch (Throwable e) {
                say("error " + e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).replace('\n', ' '));
            }
        }
        peer.client.shutdown();
        System.exit(0);
    }
}
