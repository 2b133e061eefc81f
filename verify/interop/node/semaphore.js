// RedlockSemaphore of redis-semaphore as a peer. Arguments: redis-semaphore, host:port,host:port..., lockTimeout in ms. The
// lines are those of remote_test.go.
'use strict';

const Redis = require('ioredis');
const { RedlockSemaphore } = require('redis-semaphore');
const serve = require('./serve');

const limit = 2; // places in shift_test.go
const [, , , addrs, ttl] = process.argv;
// A command to a dead server fails at once, so that the two others decide.
const clients = addrs.split(',').map((a) => new Redis(`redis://${a}`, { maxRetriesPerRequest: 0, enableOfflineQueue: false }));
for (const c of clients) c.on('error', () => {}); // ioredis connects again
const held = new Map();

function semaphore(name) {
  const s = new RedlockSemaphore(clients, name, limit, {
    lockTimeout: Number(ttl),
    onLockLost: () => (s.lostAt = Date.now()),
  });
  return s;
}

async function run(verb, name) {
  switch (verb) {
    case 'try':
    case 'lock': {
      const s = semaphore(name);
      while (!(await s.tryAcquire())) if (verb === 'try') return 'refused';
      held.set(name, s);
      return 'ok';
    }
    case 'holds': {
      const { lostAt } = held.get(name);
      return lostAt ? `lost ${Date.now() - lostAt}` : 'ok';
    }
    case 'unlock': {
      const s = held.get(name);
      held.delete(name);
      await s.release();
      return 'ok';
    }
    default:
      throw new Error(`verb ${verb}`);
  }
}

serve(Promise.all(clients.map((c) => new Promise((ok) => (c.status === 'ready' ? ok() : c.once('ready', ok))))), run);
