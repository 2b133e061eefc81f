// The page of a node.
import { html } from './html.js';
import { place } from './format.js';
import { Events } from './events.js';
import { Facts, Heading } from './facts.js';
import { clock, sharded, trip, vote } from './nodes.js';

export function NodePage({ r, now, name, tab, events, since }) {
  const n = r.nodes.find((one) => one.addr === name) ?? r.nodes.find((one) => place(one.addr) === name || place(one.label) === name); // somebody typed it as it is shown
  const what = sharded(r) ? 'shard' : 'node';
  const happened = html`<${Events} events=${events.filter((e) => e.kind === 'node' && e.name === (n?.addr ?? name))} now=${now} since=${since} title="What happened to it" links=${false} />`;
  if (!n) return html`<${Heading} tab=${tab} kind=${what} name=${place(name)} /><p class="notice">This node is not in the node set now.</p>${happened}`;
  return html`<${Heading} tab=${tab} kind=${what} name=${place(n.label)} />
    <${Facts} facts=${[
      ['Vote', n.votes ? { text: 'votes', class: 'good' } : !n.reason ? { text: 'no answer yet', class: 'dim' } : { text: 'does not vote', class: 'bad' }],
      !n.votes && ['Reason', vote(n)],
      n.detail && ['In full', n.detail],
      ['Clock', n.offset === null ? { text: 'not known', class: 'dim' } : { text: clock(n), note: 'from the clocks of the majority' }],
      ['Round trip', n.rtt === null ? { text: 'not known', class: 'dim' } : trip(n)],
      ['Version', n.version || { text: 'not known', class: 'dim' }],
      ['Address', n.addr],
      n.master && ['Master', n.master],
    ]} />${happened}`;
}
