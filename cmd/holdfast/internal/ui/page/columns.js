// The columns of the tables: how to show and how to sort each.
import { moment, near, number, span, whole } from './format.js';

const first = (n) => n.holders[0];
const none = { text: '', class: 'none' };

function holder(n) {
  if (!n.known) return { text: 'not known', class: 'bad' };
  const h = first(n);
  if (!h) return { text: 'nobody', class: 'dim' };
  const more = Math.max(n.readers, n.holders.length) - 1;
  const notes = [h.note, more > 0 ? `and ${number(more)} more` : ''].filter(Boolean).join(', ');
  return { text: h.label, note: notes, class: h.note ? 'warn' : '' };
}

const kinds = { exclusive: 'lock', shared: 'shared', semaphore: 'slot', election: 'election', job: 'job' };

export const locks = [
  { title: 'Name', class: 'name', sort: (n) => n.name, cell: (n) => ({ text: n.name, note: n.slot >= 0 ? `slot ${n.slot}` : '' }) },
  { title: 'Kind', class: 'kind', sort: (n) => n.kind, cell: (n) => kinds[n.kind] ?? n.kind },
  { title: 'Holder', class: 'holder', sort: (n) => first(n)?.label ?? '', cell: holder },
  { title: 'Held for', class: 'num', down: true, sort: (n, now) => (first(n)?.since ? now - first(n).since : -1),
    cell: (n, now) => (first(n)?.since ? whole(now - first(n).since) : none) },
  { title: 'Ends in', class: 'num', sort: (n) => (first(n) ? first(n).until || Infinity : Infinity),
    cell: (n, now) => (first(n) ? (first(n).until ? whole(first(n).until - now) : { text: 'never', class: 'warn' }) : none) },
  { title: 'Waiters', class: 'num', down: true, sort: (n) => n.waiters,
    cell: (n, now) => (n.waiters ? { text: number(n.waiters), note: n.waiting ? `for ${whole(now - n.waiting)}` : '', class: 'wait' } : { text: '0', class: 'dim' }) },
  { title: 'Fence', class: 'num fence', down: true, sort: (n) => first(n)?.fence ?? 0, cell: (n) => (first(n)?.fence ? String(first(n).fence) : none) },
];

export const differ = { title: 'Nodes differ', class: 'differ', sort: (n) => n.differ, cell: (n) => (n.differ ? { text: n.differ, class: 'warn' } : none) };

export const nodes = [
  { title: 'Node', class: 'name', sort: (n) => n.label, cell: (n) => n.label },
  { title: 'State', class: 'said', sort: (n) => n.votes,
    cell: (n) => ({ text: n.votes ? 'votes' : n.reachable ? n.said : `unreachable: ${n.said}`, class: n.votes ? 'good' : n.reachable ? 'warn' : 'bad' }) },
  { title: 'Clock', class: 'num', down: true, sort: (n) => Math.abs(n.offset ?? Infinity),
    cell: (n) => (n.offset === null ? '?' : `${n.offset < 0 ? '−' : '+'}${Math.abs(n.offset).toFixed(1)} ms`) },
  { title: 'Round trip', class: 'num', down: true, sort: (n) => n.rtt ?? Infinity, cell: (n) => (n.rtt === null ? '?' : `${n.rtt.toFixed(1)} ms`) },
  { title: 'Version', class: 'version', sort: (n) => n.version, cell: (n) => n.version || '?' },
];

const states = { done: 'good', failed: 'bad', crashed: 'bad', interrupted: 'warn', running: 'wait', reset: 'dim' };

export const jobs = [
  { title: 'Job', class: 'name', sort: (j) => j.name, cell: (j) => ({ text: j.name, note: j.schedule }) },
  { title: 'Last tick', class: 'num', down: true, sort: (j) => j.tick, cell: (j, now) => near(j.tick, now) },
  { title: 'Result', class: 'said', sort: (j) => j.state, cell: (j) => ({ text: j.state, note: j.error, class: states[j.state] ?? 'warn' }) },
  { title: 'Where', class: 'holder', sort: (j) => j.host, cell: (j) => j.host },
  { title: 'Took', class: 'num', down: true, sort: (j) => j.took, cell: (j) => (j.took < 0 ? none : span(j.took)) },
  { title: 'Next', class: 'num', sort: (j) => j.next || Infinity, cell: (j, now) => (j.next ? near(j.next, now) : none) },
];

export const elections = [
  { title: 'Election', class: 'name', sort: (e) => e.name, cell: (e) => e.name },
  { title: 'Leader', class: 'holder', sort: (e) => e.leader,
    cell: (e) => (e.error ? { text: 'not known', note: e.error, class: 'bad' } : e.leader || { text: 'nobody leads', class: 'warn' }) },
  { title: 'Leads for', class: 'num', down: true, sort: (e, now) => (e.since ? now - e.since : -1), cell: (e, now) => (e.since ? whole(now - e.since) : none) },
  { title: 'Since', class: 'num', sort: (e) => e.since, cell: (e) => (e.since ? moment(e.since) : none) },
  { title: 'Value', class: 'value', sort: (e) => e.value, cell: (e) => e.value || none },
];
