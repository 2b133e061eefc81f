// The head of the page: the node set, how fresh the picture is, and the tabs.
import { html } from './html.js';
import { number, place, plural, span } from './format.js';
import { sharded } from './nodes.js';
import { TABS } from './route.js';

export const STALE = 4000; // ms without a reading

// set names the node set: its name, or the addresses of its nodes.
export const set = (r) => r.cluster || r.nodes.map((n) => place(n.label)).sort().slice(0, 5).join(', ') + (r.nodes.length > 5 ? ', …' : '');

function live({ connection, clock, at, paused, reading }) {
  const old = clock - at;
  if (paused) return ['frozen', 'warn'];
  if (connection !== 'live') return [`no connection; as of ${span(old)} ago`, 'bad'];
  if (old > STALE) return [`as of ${span(old)} ago`, 'warn'];
  if (reading.error) return ['locks not known', 'bad'];
  return ['live', 'good'];
}

function votes(r) {
  const what = sharded(r) ? 'shard' : 'node';
  if (r.nodes.some((n) => !n.reason)) return ['waiting for nodes', 'warn'];
  const voting = r.nodes.filter((n) => n.votes).length;
  return [`${voting} of ${plural(r.nodes.length, what)} ${voting === 1 ? 'votes' : 'vote'}`, voting < r.quorum ? 'bad' : voting < r.nodes.length ? 'warn' : 'good'];
}

// counts returns the number beside each tab, and the level of the worst problem there: bad, warn or ''.
function counts(r) {
  const troubled = (kind) => ['bad', 'warn'].find((level) => r.problems.some((p) => p.kind === kind && p.level === level)) ?? '';
  return {
    overview: [null, ''],
    locks: [r.error ? '?' : r.names_at ? number(r.locks) : null, r.error ? 'bad' : troubled('lock')],
    jobs: [r.jobs_error ? '?' : r.jobs_at ? number(r.jobs_total) : null, r.jobs_error ? 'bad' : troubled('job')],
    elections: [r.error ? '?' : number(r.elections.length), troubled('election')],
    semaphores: [r.error ? '?' : number(r.semaphores), troubled('semaphore')],
    nodes: [number(r.nodes.length), troubled('node')],
  };
}

export function Bar(props) {
  const { reading: r, route, paused, pause } = props;
  const [fresh, freshClass] = live(props);
  const [vote, voteClass] = votes(r);
  const count = counts(r);
  return html`<header>
    <div class="bar"><h1><a href="#/">Holdfast</a></h1>
      <p class="set" title=${r.nodes.map((n) => n.addr).join(', ')}>${set(r)}${r.pattern && html` <span class="dim">names ${r.pattern}</span>`}</p>
      <div class="push"><p class="badge ${voteClass}">${vote}</p><p class="badge ${freshClass}" role="status">${fresh}</p>
        <button type="button" aria-pressed=${paused} onClick=${pause} title="p">${paused ? 'Go on' : 'Freeze the page'}</button>
        <button type="button" class="keys" aria-label="Keys" onClick=${() => document.getElementById('keys').showModal()}>?</button></div></div>
    <nav aria-label="Tabs"><ul class="tabs">${TABS.map((tab) => html`<li><a href="#/${tab === 'overview' ? '' : tab}" aria-current=${route.tab === tab ? 'page' : undefined}>
      ${tab === 'nodes' && sharded(r) ? 'Shards' : tab[0].toUpperCase() + tab.slice(1)}${count[tab][0] !== null && html`<span class="count">${count[tab][0]}</span>`}
      ${count[tab][1] && html`<span class="alarm ${count[tab][1]}" role="img" aria-label="needs attention"></span>`}</a></li>`)}</ul></nav>
  </header>`;
}
