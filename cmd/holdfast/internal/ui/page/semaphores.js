// The tab of the semaphores. Each has a row, and its page has the slots.
import { html } from './html.js';
import { number } from './format.js';
import { nothing, Old } from './known.js';
import { age, queue, who } from './names.js';
import { to } from './route.js';
import { Table } from './table.js';

// semaphores returns the slots by the names of their semaphores, in the order of the reading.
export function semaphores(r) {
  const all = new Map();
  for (const n of r.names) {
    if (n.slot < 0) continue;
    const s = all.get(n.name) ?? { ...n, key: n.name, slots: [], holders: [] };
    s.slots.push(n);
    s.holders = [...s.holders, ...n.holders].sort((a, b) => (a.since || Infinity) - (b.since || Infinity));
    s.waiters = Math.max(s.waiters, n.waiters);
    s.known = s.known && n.known;
    all.set(n.name, s);
  }
  return [...all.values()];
}

const name = { title: 'Semaphore', class: 'name', sort: (s) => s.name, cell: (s) => ({ text: s.name, href: to('semaphore', s.name) }) };
const taken = { title: 'Slots taken', class: 'num', down: true, sort: (s) => s.holders.length, cell: (s) => number(s.holders.length) };
const COLUMNS = [name, taken, { ...who, title: 'Oldest holder' }, age, queue];

export function Semaphores({ r, now, filter, filters }) {
  const part = filter.toLowerCase();
  const all = semaphores(r);
  const rows = all.filter((s) => !part || s.name.toLowerCase().includes(part) || s.holders.some((h) => h.label.toLowerCase().includes(part)));
  return html`<${Old} error=${r.error} at=${r.names_at} now=${now} what="semaphores" />
    <${Table} id="semaphores" title="Semaphores" columns=${COLUMNS} rows=${rows} now=${now} note=${number(all.length)}
      empty=${all.length ? 'No name fits the filter.' : nothing(r, 'Nobody has a slot or waits for one.')}>${filters}<//>`;
}

export function TopSemaphores({ r, now }) {
  const all = semaphores(r);
  if (!all.length) return null;
  return html`<${Table} id="semaphores" title="Semaphores" columns=${[name, taken, queue]} rows=${all} now=${now} most=${5} all=${all.length > 5 && { href: '#/semaphores', text: `All ${number(all.length)} semaphores` }} />`;
}
