// The charts of the overview: the last minutes, or all that the server knows since its start.
import { html, Component } from './html.js';
import { moment } from './format.js';
import { Chart } from './chart.js';

const ALL = [
  { title: 'Holders', pick: (p) => p.holders, unit: '' },
  { title: 'Waiters', pick: (p) => p.waiters, unit: '' },
  { title: 'Hand-offs', pick: (p) => p.handoffs, unit: '/s' },
  { title: 'Nodes that vote', pick: (p) => p.voting, unit: '', always: true },
];
const EVERY = 60_000; // ms between two questions for the points of minutes

export class Charts extends Component {
  constructor() {
    super();
    this.state = { long: false, minutes: [] };
  }

  componentWillUnmount() {
    clearInterval(this.timer);
  }

  choose(long) {
    clearInterval(this.timer);
    this.setState({ long });
    if (!long) return;
    const ask = async () => {
      try {
        const answer = await fetch('/history');
        if (answer.ok) this.setState({ minutes: (await answer.json()).minutes });
      } catch {
        // the header says that the server does not answer
      }
    };
    ask();
    this.timer = setInterval(ask, EVERY);
  }

  render({ points, since }, { long, minutes }) {
    const shown = long ? minutes : points;
    return html`<section id="charts" aria-labelledby="charts-title">
      <div class="title"><h2 id="charts-title">History</h2>${since ? html`<span class="dim">known since ${moment(since)}</span>` : ''}
        <div class="choice" role="group" aria-label="Time of the charts">
          <button type="button" aria-pressed=${!long} onClick=${() => this.choose(false)}>5 minutes</button>
          <button type="button" aria-pressed=${long} onClick=${() => this.choose(true)}>All</button></div></div>
      <div class="charts">${ALL.map((c) => html`<${Chart} ...${c} points=${shown} gap=${long ? 150_000 : 20_000} />`)}</div>
    </section>`;
  }
}
