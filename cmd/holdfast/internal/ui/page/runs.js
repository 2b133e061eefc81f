// The runs of a job that have ended, newest first. The output of a run opens below it.
import { html, Component } from './html.js';
import { moment, number, plural, span } from './format.js';

const CLASSES = { done: 'good', failed: 'bad', crashed: 'bad', interrupted: 'warn' };
const FIRST = 20; // runs that are shown without a request

// notes says what is special about a run.
const notes = (r) => [r.attempt > 1 && `attempt ${r.attempt}`, r.manual && 'asked for by an operator', r.missed > 0 && `after ${plural(r.missed, 'missed tick')}`].filter(Boolean).join(', ');

const Run = ({ r }) => html`<li><div class="run"><span class="state ${CLASSES[r.state] ?? ''}">${r.state}</span><time>${moment(r.started || r.tick)}</time>
    <span class="num">${r.took < 0 ? '–' : span(r.took)}</span>
    <span class="num ${r.exit ? 'bad' : 'dim'}">${r.exit === null || r.exit === undefined ? '' : `exit ${r.exit}`}</span>
    <span class="host">${r.host}${notes(r) && html` <small>${notes(r)}</small>`}</span></div>
  ${r.error && html`<p class="error">${r.error}</p>`}
  ${r.output && html`<details><summary>Output</summary><pre tabindex="0">${r.output}</pre></details>`}</li>`;

export class Runs extends Component {
  render({ runs }, { all }) {
    const shown = all ? runs : runs.slice(0, FIRST);
    return html`<section id="runs" aria-labelledby="runs-title"><div class="title"><h2 id="runs-title">Runs</h2><span class="dim">newest first</span></div>
      ${runs.length === 0
        ? html`<p class="empty">No run has ended yet.</p>`
        : html`<ol class="runs">${shown.map((r) => html`<${Run} key=${`${r.tick} ${r.attempt} ${r.started}`} r=${r} />`)}</ol>`}
      ${shown.length < runs.length && html`<p class="more"><button type="button" onClick=${() => this.setState({ all: true })}>All ${number(runs.length)} runs</button></p>`}</section>`;
  }
}
