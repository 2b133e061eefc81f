// The page of holdfast ui. It shows the readings of /events, and asks for the details of one thing at a time.
import { Component, html, render } from './html.js';
import { Bar, set, STALE } from './bar.js';
import { Elections } from './elections.js';
import { Filter } from './filter.js';
import { span } from './format.js';
import { JobPage } from './jobpage.js';
import { Jobs } from './jobs.js';
import { Keys } from './keys.js';
import { LockPage } from './lockpage.js';
import { Locks } from './locks.js';
import { NodePage } from './nodepage.js';
import { Nodes } from './nodes.js';
import { Overview } from './overview.js';
import { parse, TABS } from './route.js';
import { Semaphores } from './semaphores.js';
import { open } from './stream.js';

const KEPT = 300_000; // ms of points
const MOST_EVENTS = 1000;
const PAGES = { overview: Overview, locks: Locks, jobs: Jobs, elections: Elections, semaphores: Semaphores, nodes: Nodes };
const ITEMS = { job: JobPage, node: NodePage };

class App extends Component {
  constructor() {
    super();
    this.state = { reading: null, points: [], events: [], since: 0, connection: 'connecting', at: 0, filter: '', only: false, paused: false, clock: 0, csrf: '', details: false, route: parse(location.hash) };
    this.pending = null;
    this.points = [];
  }

  componentDidMount() {
    this.close = open({
      hello: ({ csrf, details }) => this.setState({ csrf, details }),
      past: ({ recent, events, since }) => {
        this.points = recent;
        this.setState({ points: recent, events, since });
      },
      state: (reading) => this.take(reading),
      happened: (news) => this.setState((s) => {
        const replaced = new Set(news.map((e) => e.replaces));
        return { events: [...s.events.filter((e) => !replaced.has(e.seq)), ...news].slice(-MOST_EVENTS) };
      }),
      connection: (connection) => this.setState({ connection }),
    });
    this.timer = setInterval(() => this.setState({ clock: performance.now() }), 1000);
    document.addEventListener('keydown', (e) => this.key(e));
    document.addEventListener('visibilitychange', () => this.draw());
    window.addEventListener('hashchange', () => this.go(parse(location.hash)));
  }

  go(route) {
    this.setState((s) => (route.tab === s.route.tab && !s.route.name ? { route } : { route, filter: route.name ? s.filter : '', only: false }));
    window.scrollTo({ top: 0, behavior: 'instant' });
  }

  // take keeps a reading for the next frame. A hidden page and a frozen page draw nothing.
  take(reading) {
    this.latest = { reading, at: performance.now() };
    if (!reading.early && this.points.at(-1)?.at !== reading.point.at) {
      this.points = [...this.points.filter((p) => p.at > reading.at - KEPT), reading.point];
      if (!this.state.since) this.latest.since = reading.at;
    }
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
    if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
    const tab = TABS[Number(e.key) - 1];
    if (e.key === '/') document.getElementById('filter')?.focus();
    else if (e.key === 'p') this.pause();
    else if (e.key === 'w') this.setState((s) => ({ only: !s.only }));
    else if (e.key === '?') document.getElementById('keys')?.showModal();
    else if (tab) location.hash = tab === 'overview' ? '#/' : `#/${tab}`;
    else return;
    e.preventDefault();
  }

  render(_, s) {
    if (!s.reading) {
      return html`<main><h1>Holdfast</h1><p class="notice" role="status">${s.connection === 'lost' ? 'The server does not answer.' : 'Waiting for the nodes…'}</p></main>`;
    }
    const r = s.reading;
    const stale = s.connection !== 'live' || s.clock - s.at > STALE;
    const now = s.paused || stale ? r.at : r.at + Math.max(0, s.clock - s.at); // an old picture does not grow older inside
    const { tab, kind, name } = s.route;
    document.title = `${name || (tab === 'overview' ? 'Holdfast' : tab[0].toUpperCase() + tab.slice(1))} – ${set(r)}`;
    const Page = kind ? ITEMS[kind] ?? LockPage : PAGES[tab];
    const filters = html`<${Filter} filter=${s.filter} only=${s.only} waiters=${tab === 'locks'} change=${(c) => this.setState(c)} />`;
    return html`<${Bar} ...${s} pause=${() => this.pause()} />
      <main class=${stale ? 'stale' : ''}>
        ${stale && html`<p class="notice bad" role="alert">${s.connection !== 'live' ? 'holdfast ui does not answer' : 'No new reading has come'}. The page shows what was known ${span(s.clock - s.at)} ago.</p>`}
        <${Page} key=${kind + name} r=${r} now=${now} points=${s.points} since=${s.since} events=${s.events} filter=${s.filter} only=${s.only} filters=${filters}
          tab=${tab} kind=${kind} name=${name} csrf=${s.csrf} details=${s.details} />
      </main>
      <${Keys} />`;
  }
}

render(html`<${App} />`, document.getElementById('app'));
