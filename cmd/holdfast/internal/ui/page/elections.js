// The tab of the elections.
import { html } from './html.js';
import { moment, number, whole } from './format.js';
import { nothing, Old } from './known.js';
import { to } from './route.js';
import { none, Table } from './table.js';

const name = { title: 'Election', class: 'name', sort: (e) => e.name, cell: (e) => ({ text: e.name, href: to('election', e.name) }) };
const leads = { title: 'Leads for', class: 'num', down: true, sort: (e, now) => (e.since ? now - e.since : -1), cell: (e, now) => (e.since ? whole(now - e.since) : none) };
const leader = (r) => ({ title: 'Leader', class: 'holder', sort: (e) => e.leader, cell: (e) => {
  if (r.error) return { text: 'not known', note: e.leader ? `was ${e.leader}` : '', class: 'bad' };
  return e.error ? { text: 'not known', note: e.error, class: 'bad' } : e.leader || { text: 'nobody leads', class: 'bad' };
} });
const since = { title: 'Since', class: 'num', sort: (e) => e.since, cell: (e) => (e.since ? moment(e.since) : none) };
const value = { title: 'Value', class: 'value', sort: (e) => e.value, cell: (e) => e.value || none };

const NONE = 'There is no election that its leader has announced.';
const WHICH = 'An election is listed if holdfast lead runs it, or if its leader calls Publish or Announce. Others are among the locks.';

export function Elections({ r, now, filter, filters }) {
  const part = filter.toLowerCase();
  const rows = r.elections.filter((e) => !part || e.name.toLowerCase().includes(part) || e.leader.toLowerCase().includes(part));
  return html`<${Old} error=${r.error} at=${r.names_at} now=${now} what="leaders" />
    <${Table} id="elections" title="Elections" columns=${[name, leader(r), leads, since, value]} rows=${rows} now=${now} note=${number(r.elections.length)}
      empty=${r.elections.length ? 'No name fits the filter.' : nothing(r, NONE)}>${filters}<//>
    <p class="dim">${WHICH}</p>`;
}

export function TopElections({ r, now }) {
  if (!r.elections.length) return null;
  return html`<${Table} id="elections" title="Elections" columns=${[name, leader(r), leads]} rows=${r.elections} now=${now} most=${5} all=${r.elections.length > 5 && { href: '#/elections', text: `All ${number(r.elections.length)} elections` }} />`;
}
