// The page of a lock, of a semaphore with its slots, or of an election.
import { html } from './html.js';
import { moment, near, number, place, whole } from './format.js';
import { Detailed } from './details.js';
import { Events } from './events.js';
import { Facts, Heading } from './facts.js';
import { namesKnown } from './known.js';
import { endsIn, heldFor } from './names.js';
import { query, Search } from './search.js';
import { semaphores } from './semaphores.js';
import { none, Table } from './table.js';
import { Unlock } from './unlock.js';

const HOLDERS = [
  { title: 'Holder', class: 'holder', cell: (h) => ({ text: h.label, note: h.note }) },
  { title: 'Since', class: 'num', cell: (h, now) => (h.since ? near(h.since, now) : none) },
  { title: 'Held for', class: 'num', cell: (h, now) => heldFor(h, now) },
  { title: 'Ends', class: 'num', cell: (h, now) => (h.until ? near(h.until, now) : { text: 'never', class: 'warn' }) },
  { title: 'Ends in', class: 'num', cell: (h, now) => endsIn(h, now) },
  { title: 'Token', class: 'num fence', cell: (h) => (h.fence ? String(h.fence) : none) },
];
const SLOTS = [{ title: 'Slot', class: 'slot num', cell: (h) => String(h.slot) }, ...HOLDERS];
const ANSWERS = [
  { title: 'Node', class: 'name', cell: (n) => ({ text: place(n.addr), href: `#/node/${encodeURIComponent(n.addr)}` }) },
  { title: 'Answer', class: 'said', cell: (n) => ({ text: n.said, note: n.unsure && !/forgotten/.test(n.said) ? 'it does not vote' : '', class: n.unsure ? 'warn' : '' }) },
  { title: 'Ends there', class: 'num', cell: (n, now) => (n.until ? near(n.until, now) : none) },
  { title: 'Token', class: 'num fence', cell: (n) => (n.fence ? String(n.fence) : none) },
];

const slotsOf = (s) => (s ? Math.max(...s.slots.map((n) => n.slot)) + 1 : 0);

// LockPage asks for a name that the reading leaves out.
export function LockPage(props) {
  const { r, name } = props;
  const url = r.total > r.names.length && !r.names.some((n) => n.name === name) ? query('/names', { name }) : '';
  return html`<${Search} url=${url} show=${(found) => html`<${Page} ...${props} r=${found ? { ...r, names: found.items } : r} searching=${url && !found} />`} />`;
}

class Page extends Detailed {
  url({ name, kind, r }) {
    const slots = kind === 'semaphore' ? slotsOf(semaphores(r.names).find((s) => s.name === name)) : 0;
    return `/lock?name=${encodeURIComponent(name)}&slots=${slots}`;
  }

  render({ r, now, name, kind, tab, events, since, csrf, searching }, { value, error }) {
    const semaphore = kind === 'semaphore' && semaphores(r.names).find((s) => s.name === name);
    const n = semaphore || r.names.find((one) => one.slot < 0 && one.name === name);
    const election = kind === 'election' && r.elections.find((e) => e.name === name);
    const what = kind === 'lock' && n?.kind === 'shared' ? 'shared' : kind;
    const holders = semaphore
      ? semaphore.slots.flatMap((s) => s.holders.map((h, i) => ({ ...h, slot: s.slot, key: `${s.slot} ${i}` }))).sort((a, b) => a.slot - b.slot)
      : (value?.known ? value.holders : n?.holders ?? []).map((h, i) => ({ ...h, key: `${h.label} ${h.fence} ${i}` }));
    const known = value ? value.known : n ? n.known && !n.old : namesKnown(r);
    const state = !known ? { text: 'not known', note: value?.error || r.error || 'no answer yet', class: 'bad' }
      : semaphore ? `${number(holders.length)} ${holders.length === 1 ? 'slot is' : 'slots are'} taken`
      : election ? (holders.length ? `${holders[0].label} leads` : { text: 'nobody leads', class: 'bad' })
      : holders.length === 0 ? 'free' : what === 'shared' ? `${number(Math.max(value?.readers ?? 0, holders.length))} readers have it` : `held by ${holders[0].label}`;
    const published = election && (!known || holders[0]?.label === election.leader); // the reading may be of another leader
    return html`<${Heading} tab=${tab} kind=${what} name=${name} />
      ${error && html`<p class="notice bad" role="alert">The details are not new: ${error}</p>`}
      <${Facts} facts=${[
        ['State', state],
        election && !known && election.leader && ['Last known leader', election.leader],
        election && ['Leads since', published && election.since ? moment(election.since) : '–'],
        election && ['Value', (published && election.value) || '–'],
        ['Waiters', !known || searching ? 'not known' : n?.waiters ? { text: number(n.waiters), note: n.waiting ? `the first for ${whole(now - n.waiting)}` : '' } : '0'],
        n?.old && ['Last known', `as of ${whole(now - n.old)} ago`],
        n?.differ && ['Nodes differ', { text: n.differ, class: 'warn' }],
      ]} />
      <${Table} id="holders" title=${semaphore ? 'Slots' : 'Holders'} columns=${semaphore ? SLOTS : HOLDERS} rows=${holders} now=${now} note=${known ? '' : holders.length ? 'the last known ones' : ''}
        empty=${known ? 'Nobody has it.' : 'Not known.'} />
      ${csrf && holders.length > 0 && known && html`<${Unlock} name=${name} slots=${semaphore ? slotsOf(semaphore) : 0} holders=${holders} csrf=${csrf} then=${() => this.ask(true)} />`}
      <${Table} id="answers" title="What each node answers" columns=${ANSWERS} rows=${(value?.nodes ?? []).map((a) => ({ ...a, key: a.addr }))} now=${now}
        empty=${value ? 'No node was asked.' : 'Waiting for the nodes…'} />
      <${Events} events=${events.filter((e) => e.name === name && e.kind !== 'node' && e.kind !== 'job')} now=${now} since=${since} links=${false} />`;
  }
}
