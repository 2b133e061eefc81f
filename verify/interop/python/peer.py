"""redis-py's Lock and redlock-py as peers.

Arguments: redis-py | redlock-py | pottery, host:port,host:port..., ttl in ms. The lines are those of remote_test.go.
"""

import sys

import redis


def servers(addrs):
    return [redis.Redis(host=a.split(":")[0], port=int(a.split(":")[1])) for a in addrs]


class RedisPy:
    """Polls each 100 ms."""

    def __init__(self, addrs, ttl):
        self.redis, self.ttl = servers(addrs)[0], ttl / 1000

    def take(self, name, wait):
        lock = self.redis.lock(name, timeout=self.ttl)
        return lock.release if lock.acquire(blocking=wait) else None


class RedlockPy:
    """Tries 3 times, 200 ms apart; the program asks again. It keeps nothing on a minority in between."""

    def __init__(self, addrs, ttl):
        from redlock import Redlock

        self.once = Redlock(servers(addrs), retry_count=1, retry_delay=0.001)
        self.patient = Redlock(servers(addrs))
        self.ttl = ttl

    def take(self, name, wait):
        while True:
            lock = (self.patient if wait else self.once).lock(name, self.ttl)
            if lock:
                return lambda: self.once.unlock(lock)
            if not wait:
                return None


class Pottery:
    """Stores its lock under redlock:NAME."""

    def __init__(self, addrs, ttl):
        self.masters, self.ttl = set(servers(addrs)), ttl / 1000

    def take(self, name, wait):
        from pottery import Redlock

        lock = Redlock(key=name, masters=self.masters, auto_release_time=self.ttl)
        return lock.release if lock.acquire(blocking=wait) else None


def main():
    kind, addrs, ttl = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
    client = {"redis-py": RedisPy, "redlock-py": RedlockPy, "pottery": Pottery}[kind](addrs, ttl)
    held = {}
    print("ready", flush=True)
    for line in sys.stdin:
        verb, name = line.split()
        try:
            if verb == "unlock":
                held.pop(name)()
                print("ok", flush=True)
                continue
            unlock = client.take(name, verb == "lock")
            if unlock:
                held[name] = unlock
            print("ok" if unlock else "refused", flush=True)
        except Exception as e:  # the test shows it
            print("error", type(e).__name__, str(e).replace("\n", " "), flush=True)


main()
