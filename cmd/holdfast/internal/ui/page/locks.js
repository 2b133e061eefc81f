// The tab of the locks, and their top for the overview.
import { html } from './html.js';
import { counts, Cut } from './cut.js';
import { number } from './format.js';
import { noLocks, Old } from './known.js';
import * as names from './names.js';
import { query, Search } from './search.js';
import { Table } from './table.js';

const COLUMNS = [names.name, names.kind, names.who, names.age, names.end, names.queue, names.token];
const BRIEF = [names.name, names.who, names.age, names.queue];

// locks returns the names that are neither slots nor locks of elections and jobs. Those have tabs of their own.
export const locks = (r) => r.names.filter((n) => n.slot < 0 && n.kind !== 'election' && n.kind !== 'job');

export function Locks(props) {
  const { r, filter, only } = props;
  const whole = locks(r).length >= r.locks;
  const url = (filter || only) && !whole ? query('/names', { kind: 'lock', part: filter, waiting: only ? 1 : 0 }) : '';
  return html`<${Search} url=${url} show=${(found) => html`<${List} ...${props} url=${url} found=${found} />`} />`;
}

function List({ r, now, filter, only, filters, url, found }) {
  const all = locks(r);
  const part = filter.toLowerCase();
  const rows = found ? found.items : all.filter((n) => (!only || n.waiters > 0) && (!part || n.name.toLowerCase().includes(part) || n.holders.some((h) => h.label.toLowerCase().includes(part))));
  const differing = rows.some((n) => n.differ);
  const filtered = Boolean(part || only);
  return html`<${Old} error=${r.error} at=${r.names_at} now=${now} what="locks" />
    <${Table} id="locks" title="Locks" wide=${differing} columns=${differing ? [...COLUMNS, names.differ] : COLUMNS} rows=${rows} now=${now}
      note=${counts({ filtered, url, found, rows: rows.length, all: r.locks })}
      empty=${r.locks ? (url && !found ? 'Searching…' : 'No name fits the filter.') : noLocks(r)}>${filters}<//>
    ${(!url || found) && html`<${Cut} what="locks" shown=${rows.length} fits=${found ? found.fits : rows.length} all=${r.locks} filtered=${filtered} />`}`;
}

export function TopLocks({ r, now }) {
  const all = locks(r);
  return html`<${Table} id="locks" title="Locks" columns=${BRIEF} rows=${all} now=${now} most=${5} note=${r.error && r.names_at && all.length ? 'not known now; the last known ones' : ''}
    empty=${noLocks(r)} all=${r.locks > 5 && { href: '#/locks', text: `All ${number(r.locks)} locks` }} />`;
}
