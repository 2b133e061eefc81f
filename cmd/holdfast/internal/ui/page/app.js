// The page of holdfast ui. It shows the readings of /events and never sends anything else.
import { Component, html, render } from './html.js';
import { Chart } from './chart.js';
import * as columns from './columns.js';
import { number, plural, span } from './format.js';
import { open } from './stream.js';
import { Table } from './table.js';

const KEPT = 300_000; // ms of points
const STALE = 4000; // ms without a reading
const KINDS = ['exclusive', 'shared', 'semaphore', 'election', 'job'];
const SECTIONS = ['locks', 'nodes', 'jobs', 'elections'];

const charts = [
  { title: 'Holders', pick: (p) => p.holders, unit: '' },
  { title: 'Waiters', pick: (p) => p.waiters, unit: '' },
  { title: 'Hand-offs seen', pick: (p) => p.handoffs, unit: '/s' },
  { title: 'Nodes that vote', pick: (p) => p.voting, unit: '' },
];

class App extends Component {
  constructor() {
    super();
    this.state = { reading: null, points: [], connection: 'connecting', at: 0, filter: '', kind: '', waiting: false, paused: false, clock: 0 };
    this.pending = null;
  }

  componentDidMount() {
    this.close = open({
      past: (points) => this.setState({ points }),
      state: (reading) => this.take(reading),
      connection: (connection) => this.setState({ connection }),
    });
    this.timer = setInterval(() => this.setState({ clock: performance.now() }), 1000);
    document.addEventListener('keydown', (e) => this.key(e));
    document.addEventListener('visibilitychange', () => this.draw());
  }

  // take keeps a reading for the next frame. A hidden page and a paused page draw nothing.
  take(reading) {
    this.latest = { reading, at: performance.now() };
    const points = (this.points ?? this.state.points).filter((p) => p.at > reading.at - KEPT);
    points.push(reading.point);
    this.points = points;
    this.draw();
  }

  draw() {
    if (this.pending || document.hidden || this.state.paused || !this.latest) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = null;
      this.setState({ ...this.latest, points: this.points, clock: performance.now() });
    });
  }

  pause() {
    this.setState((s) => ({ paused: !s.paused }), () => this.draw());
  }

  key(e) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
    if (e.key === 'Escape' && e.target.id === 'filter') {
      this.setState({ filter: '' });
      e.target.blur();
    }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    const section = SECTIONS[Number(e.key) - 1];
    if (e.key === '/') document.getElementById('filter')?.focus();
    else if (e.key === 'p') this.pause();
    else if (e.key === 'w') this.setState((s) => ({ waiting: !s.waiting }));
    else if (e.key === '?') document.getElementById('keys')?.showModal();
    else if (section) {
      const at = document.getElementById(section);
      at?.scrollIntoView();
      at?.focus({ preventScroll: true });
    } else return;
    e.preventDefault();
  }

  chosen() {
    const { reading, filter, kind, waiting } = this.state;
    const part = filter.toLowerCase();
    return reading.names.filter(
      (n) => (!kind || n.kind === kind) && (!waiting || n.waiters > 0) && (!part || n.name.toLowerCase().includes(part) || n.holders.some((h) => h.label.toLowerCase().includes(part))),
    );
  }

  render(_, s) {
    if (!s.reading) {
      return html`<main><h1>Holdfast</h1><p class="notice" role="status">${s.connection === 'lost' ? 'The server does not answer.' : 'Waiting for the first reading…'}</p></main>`;
    }
    const r = s.reading;
    const now = s.paused ? r.at : r.at + Math.max(0, s.clock - s.at);
    const rows = this.chosen();
    const differing = rows.some((n) => n.differ);
    return html`<${Header} ...${s} pause=${() => this.pause()} />
      <main>
        ${r.error && html`<p class="notice bad" role="alert">The list is not complete: ${r.error}</p>`}
        <div class="charts">${charts.map((c) => html`<${Chart} ...${c} points=${s.points} />`)}</div>
        <${Table} id="locks" title="Locks" wide=${differing} columns=${differing ? [...columns.locks, columns.differ] : columns.locks} rows=${rows} now=${now}
          note=${rows.length < r.total ? `${number(rows.length)} of ${number(r.total)}` : number(r.total)}
          empty=${r.total ? 'No name fits the filter.' : 'Nobody has a lock or waits for one.'}>
          <div class="filter">
            <input id="filter" type="search" placeholder="Filter ( / )" aria-label="Filter by name or holder" value=${s.filter} onInput=${(e) => this.setState({ filter: e.target.value })} />
            <select aria-label="Kind" value=${s.kind} onChange=${(e) => this.setState({ kind: e.target.value })}>
              <option value="">all kinds</option>${KINDS.map((k) => html`<option value=${k}>${k}</option>`)}</select>
            <label><input type="checkbox" checked=${s.waiting} onChange=${(e) => this.setState({ waiting: e.target.checked })} /> with waiters</label>
          </div>
        <//>
        ${r.total > r.names.length && html`<p class="dim">The page has ${number(r.names.length)} of ${number(r.total)} names, those with waiters first. Start holdfast ui with a pattern to see others.</p>`}
        <${Table} id="nodes" title=${sharded(r) ? 'Shards' : 'Nodes'} columns=${columns.nodes} rows=${r.nodes} now=${now} note=${sharded(r) ? 'each shard locks the names of its hash slots' : `${r.quorum} ${r.quorum === 1 ? 'vote decides' : 'votes decide'}`} empty="There are no nodes." />
        <${Table} id="jobs" title="Jobs" columns=${columns.jobs} rows=${r.jobs} now=${now} note=${r.jobs_error && `not complete: ${r.jobs_error}`} empty="No job has run yet." />
        <${Table} id="elections" title="Elections" columns=${columns.elections} rows=${r.elections} now=${now} empty="No leader has published a value." />
      </main>
      <${Keys} />`;
  }
}

// The nodes are shards of a Redis Cluster.
const sharded = (r) => r.nodes.some((n) => n.master);

function Header({ reading: r, connection, at, clock, paused, pause }) {
  const voting = r.point.voting;
  const old = clock - at;
  const live = paused ? ['paused', 'warn'] : connection !== 'live' ? ['no connection', 'bad'] : old > STALE ? [`no reading for ${span(old)}`, 'warn'] : ['live', 'good'];
  return html`<header>
    <h1>Holdfast</h1>
    <p class="badge ${voting >= r.quorum ? (voting < r.nodes.length ? 'warn' : 'good') : 'bad'}">${voting} of ${plural(r.nodes.length, sharded(r) ? 'shard' : 'node')} ${voting === 1 ? 'votes' : 'vote'}</p>
    <p class="badge ${live[1]}" role="status">${live[0]}</p>
    <div class="push">
      <button type="button" aria-pressed=${paused} onClick=${pause}>Pause</button>
      <button type="button" class="keys" onClick=${() => document.getElementById('keys').showModal()}>Keys</button>
    </div>
  </header>`;
}

// Keys explains the keys. It never changes.
class Keys extends Component {
  shouldComponentUpdate() {
    return false;
  }

  render() {
    return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
      <dl><dt>/</dt><dd>filter; Esc clears it</dd><dt>p</dt><dd>pause</dd><dt>w</dt><dd>only names with waiters</dd>
        <dt>1 2 3 4</dt><dd>locks, nodes, jobs, elections</dd><dt>?</dt><dd>these keys</dd></dl>
      <form method="dialog"><button>Close</button></form></dialog>`;
  }
}

render(html`<${App} />`, document.getElementById('app'));
