// The tab of the semaphores. Each has a row, and its page has the slots.
import { html } from './html.js';
import { counts, Cut } from './cut.js';
import { number } from './format.js';
import { nothing, Old } from './known.js';
import { age, queue, who } from './names.js';
import { to } from './route.js';
import { query, Search } from './search.js';
import { Table } from './table.js';

// semaphores returns slots by the names of their semaphores, in their order.
export function semaphores(list) {
  const all = new Map();
  for (const n of list) {
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

export function Semaphores(props) {
  const { r, filter } = props;
  const url = filter && r.total > r.names.length ? query('/names', { kind: 'semaphore', part: filter }) : '';
  return html`<${Search} url=${url} show=${(found) => html`<${List} ...${props} url=${url} found=${found} />`} />`;
}

function List({ r, now, filter, filters, url, found }) {
  const part = filter.toLowerCase();
  const all = semaphores(found ? found.items : r.names);
  const rows = all.filter((s) => !part || s.name.toLowerCase().includes(part) || s.holders.some((h) => h.label.toLowerCase().includes(part)));
  return html`<${Old} error=${r.error} at=${r.names_at} now=${now} what="semaphores" />
    <${Table} id="semaphores" title="Semaphores" columns=${COLUMNS} rows=${rows} now=${now} note=${counts({ filtered: part, url, found, rows: rows.length, all: r.semaphores })}
      empty=${r.semaphores ? (url && !found ? 'Searching…' : 'No name fits the filter.') : nothing(r, 'Nobody has a slot or waits for one.')}>${filters}<//>
    ${(!url || found) && html`<${Cut} what="semaphores" shown=${rows.length} fits=${found ? found.fits : rows.length} all=${r.semaphores} filtered=${part} />`}`;
}

export function TopSemaphores({ r, now }) {
  const all = semaphores(r.names);
  if (!all.length) return null;
  return html`<${Table} id="semaphores" title="Semaphores" columns=${[name, taken, queue]} rows=${all} now=${now} most=${5} all=${r.semaphores > 5 && { href: '#/semaphores', text: `All ${number(r.semaphores)} semaphores` }} />`;
}
