// The columns of names that somebody has or waits for.
import { number, whole } from './format.js';
import { to } from './route.js';
import { none } from './table.js';

export const first = (n) => n.holders[0];

export function holder(n) {
  if (!n.known) return { text: 'not known', class: 'bad' };
  const h = first(n);
  if (n.old) return { text: h ? `was ${h.label}` : 'was free', class: 'dim' };
  if (!h) return { text: 'nobody', class: 'dim' };
  const more = Math.max(n.readers, n.holders.length) - 1;
  const notes = [h.note, more > 0 ? `and ${number(more)} more` : ''].filter(Boolean).join(', ');
  return { text: h.label, note: notes, class: h.note ? 'warn' : '' };
}

export const heldFor = (h, now, old) => (h?.since && !old ? whole(now - h.since) : none);
export const endsIn = (h, now, old) => (!h || old ? none : h.until ? whole(h.until - now) : { text: 'never', class: 'warn' });
export const waiters = (n, now) => (n.waiters ? { text: number(n.waiters), note: n.waiting ? `for ${whole(now - n.waiting)}` : '', class: 'wait' } : { text: '0', class: 'dim' });

// item is the kind of the page of a name.
export const item = (n) => (n.slot >= 0 ? 'semaphore' : ['election', 'job'].includes(n.kind) ? n.kind : 'lock');

export const name = { title: 'Name', class: 'name', sort: (n) => n.name, cell: (n) => ({ text: n.name, href: to(item(n), n.name), note: n.slot >= 0 ? `slot ${n.slot}` : '' }) };
export const kind = { title: 'Kind', class: 'kind', sort: (n) => n.kind, cell: (n) => n.kind };
export const who = { title: 'Holder', class: 'holder', sort: (n) => first(n)?.label ?? '', cell: holder };
export const age = { title: 'Held for', class: 'num', down: true, sort: (n, now) => (first(n)?.since ? now - first(n).since : -1), cell: (n, now) => heldFor(first(n), now, n.old) };
export const end = { title: 'Ends in', class: 'num', sort: (n) => (first(n) ? first(n).until || Infinity : Infinity), cell: (n, now) => endsIn(first(n), now, n.old) };
export const queue = { title: 'Waiters', class: 'num', down: true, sort: (n) => n.waiters, cell: waiters };
export const token = { title: 'Token', class: 'num fence', down: true, sort: (n) => first(n)?.fence ?? 0, cell: (n) => (first(n)?.fence ? String(first(n).fence) : none) };
export const differ = { title: 'Nodes differ', class: 'differ', sort: (n) => n.differ, cell: (n) => (n.differ ? { text: n.differ, class: 'warn' } : none) };
