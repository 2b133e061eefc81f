import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/**
 * Spring Integration's RedisLockRegistry and ShedLock as peers.
 *
 * <p>Arguments: Spring | Spring-pubsub | ShedLock | ShedLock-safe, host:port, ttl in ms. The lines are those of remote_test.go. Spring's
 * keys are app:NAME, and ShedLock's are job-lock:app:NAME.
 */
public final class Peer {
    /** A held lock is released by run. */
    private interface Client {
        Optional<Runnable> take(String name, boolean wait) throws Exception;
    }

    private static Client spring(LettuceConnectionFactory connections, long ttl, boolean listens) {
        RedisLockRegistry registry = new RedisLockRegistry(connections, "app", ttl); // it polls each 100 ms
        if (listens) {
            registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
        }
        return (name, wait) -> {
            Lock lock = registry.obtain(name);
            if (wait) {
                lock.lock();
            } else if (!lock.tryLock()) {
                return Optional.empty();
            }
            return Optional.of(lock::unlock);
        };
    }

    private static Client shedlock(LettuceConnectionFactory connections, long ttl, boolean safe) {
        LockProvider provider = new RedisLockProvider.Builder(connections).environment("app").safeUpdate(safe).build();
        return (name, wait) -> {
            while (true) {
                Optional<SimpleLock> lock =
                        provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofMillis(ttl), Duration.ZERO));
                if (lock.isPresent() || !wait) {
                    return lock.map(l -> l::unlock);
                }
                Thread.sleep(100);
            }
        };
    }

    public static void main(String[] args) throws Exception {
        String[] address = args[1].split(":");
        LettuceConnectionFactory connections = new LettuceConnectionFactory(address[0], Integer.parseInt(address[1]));
        connections.afterPropertiesSet();
        connections.start();
        long ttl = Long.parseLong(args[2]);
        Client client = args[0].startsWith("Spring")
                ? spring(connections, ttl, args[0].equals("Spring-pubsub"))
                : shedlock(connections, ttl, args[0].equals("ShedLock-safe"));
        client.take("warm-up", false).ifPresent(Runnable::run);
        Map<String, Runnable> held = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            try {
                if (words[0].equals("unlock")) {
                    held.remove(words[1]).run();
                    System.out.println("ok");
                    continue;
                }
                Optional<Runnable> lock = client.take(words[1], words[0].equals("lock"));
                lock.ifPresent(l -> held.put(words[1], l));
                System.out.println(lock.isPresent() ? "ok" : "refused");
            } catch (Throwable e) {
                System.out.println("error " + e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).replace('\n', ' '));
            }
        }
        System.exit(0);
    }
}
