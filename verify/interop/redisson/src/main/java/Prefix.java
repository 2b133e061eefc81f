import org.redisson.config.Config;
import org.redisson.config.NameMapper;

/** A NameMapper. It is a class of its own, because Redisson 3 has this interface elsewhere, and Peer runs on that, too. */
record Prefix(String prefix) implements NameMapper {
    static void set(Config config, String prefix) {
        config.setNameMapper(new Prefix(prefix));
    }

    @Override
    public String map(String name) {
        return prefix + name;
    }

    @Override
    public String unmap(String name) {
        return name.substring(prefix.length());
    }
}
