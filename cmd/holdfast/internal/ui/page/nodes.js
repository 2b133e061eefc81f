// The tab of the nodes.
import { html } from './html.js';
import { place } from './format.js';
import { to } from './route.js';
import { none, Table } from './table.js';

// sharded reports whether the nodes are shards of a Redis Cluster.
export const sharded = (r) => r.nodes.some((n) => n.master);

export function vote(n) {
  if (n.votes) return { text: 'votes', class: 'good' };
  return { text: n.said, class: !n.reason ? 'dim' : n.reachable ? 'warn' : 'bad' };
}

export const clock = (n) => (n.offset === null ? none : `${n.offset < 0 ? '−' : '+'}${Math.abs(n.offset).toFixed(1)} ms`);
export const trip = (n) => (n.rtt === null ? none : `${n.rtt.toFixed(1)} ms`);

const name = { title: 'Node', class: 'name', sort: (n) => n.label, cell: (n) => ({ text: place(n.label), href: to('node', n.addr) }) };
const said = { title: 'State', class: 'said', sort: (n) => n.said, cell: vote };
const COLUMNS = [name, said,
  { title: 'Clock', class: 'num', down: true, sort: (n) => Math.abs(n.offset ?? Infinity), cell: clock },
  { title: 'Round trip', class: 'num', down: true, sort: (n) => n.rtt ?? Infinity, cell: trip },
  { title: 'Version', class: 'version', sort: (n) => n.version, cell: (n) => n.version || none }];

const title = (r) => (sharded(r) ? 'Shards' : 'Nodes');
const note = (r) => (sharded(r) ? 'each shard locks the names of its hash slots' : `${r.quorum} ${r.quorum === 1 ? 'vote decides' : 'votes decide'}`);

export const Nodes = ({ r, now }) => html`<${Table} id="nodes" title=${title(r)} columns=${COLUMNS} rows=${r.nodes} now=${now} note=${note(r)} empty="There are no nodes." />`;

export const TopNodes = ({ r, now }) => html`<${Table} id="nodes" title=${title(r)} columns=${[name, said]} rows=${r.nodes} now=${now} most=${5} note=${note(r)} empty="There are no nodes."
  all=${r.nodes.length > 5 && { href: '#/nodes', text: `All ${r.nodes.length} ${title(r).toLowerCase()}` }} />`;
