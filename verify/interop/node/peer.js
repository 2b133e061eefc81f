// node-redlock as a peer. Arguments: node-redlock (version 4, the latest release) or node-redlock-5 (the beta of version
// 5), host:port,host:port..., ttl in ms. The lines are those of remote_test.go.
'use strict';

const Redis = require('ioredis');

const [, , kind, addrs, ttl] = process.argv;
const beta = kind === 'node-redlock-5';
const Redlock = beta ? require('redlock5').default : require('redlock');
const serve = require('./serve');
const clients = addrs.split(',').map((a) => new Redis(`redis://${a}`));
const once = new Redlock(clients, { retryCount: 0 });
const patient = new Redlock(clients); // 10 tries, 100 to 300 ms apart
const held = new Map();

async function take(locks, name) {
  try {
    held.set(name, await (beta ? locks.acquire([name], Number(ttl)) : locks.lock(name, Number(ttl))));
    return true;
  } catch (e) {
    if (e.name === 'LockError' || e.name === 'ExecutionError') return false;
    throw e;
  }
}

async function run(verb, name) {
  switch (verb) {
    case 'try':
      return (await take(once, name)) ? 'ok' : 'refused';
    case 'lock':
      while (!(await take(patient, name)));
      return 'ok';
    case 'unlock': {
      const lock = held.get(name);
      held.delete(name);
      await (beta ? lock.release() : lock.unlock());
      return 'ok';
    }
    default:
      throw new Error(`verb ${verb}`);
  }
}

serve(Promise.all(clients.map((c) => c.ping())), run);
