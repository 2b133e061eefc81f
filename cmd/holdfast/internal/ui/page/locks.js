// The tab of the locks, and their top for the overview.
import { html } from './html.js';
import { number } from './format.js';
import { nothing, Old } from './known.js';
import * as names from './names.js';
import { Table } from './table.js';

const COLUMNS = [names.name, names.kind, names.who, names.age, names.end, names.queue, names.token];
const BRIEF = [names.name, names.who, names.age, names.queue];

// locks returns the names that are neither slots nor locks of elections and jobs. Those have tabs of their own.
export const locks = (r) => r.names.filter((n) => n.slot < 0 && n.kind !== 'election' && n.kind !== 'job');

export function Locks({ r, now, filter, only, filters }) {
  const all = locks(r);
  const part = filter.toLowerCase();
  const rows = all.filter((n) => (!only || n.waiters > 0) && (!part || n.name.toLowerCase().includes(part) || n.holders.some((h) => h.label.toLowerCase().includes(part))));
  const differing = rows.some((n) => n.differ);
  return html`<${Old} error=${r.error} at=${r.names_at} now=${now} what="locks" />
    <${Table} id="locks" title="Locks" wide=${differing} columns=${differing ? [...COLUMNS, names.differ] : COLUMNS} rows=${rows} now=${now}
      note=${rows.length < all.length ? `${number(rows.length)} of ${number(all.length)}` : number(all.length)}
      empty=${all.length ? 'No name fits the filter.' : nothing(r, 'Nobody has a lock or waits for one.')}>${filters}<//>
    ${r.total > r.names.length && html`<p class="dim">The page has ${number(r.names.length)} of ${number(r.total)} names, those that need attention first. Start holdfast ui with a pattern to see others.</p>`}`;
}

export function TopLocks({ r, now }) {
  const all = locks(r);
  return html`<${Table} id="locks" title="Locks" columns=${BRIEF} rows=${all} now=${now} most=${5} note=${r.error && r.names_at ? 'not known now; the last known ones' : ''}
    empty=${nothing(r, 'Nobody has a lock or waits for one.')} all=${all.length > 5 && { href: '#/locks', text: `All ${number(all.length)} locks` }} />`;
}
