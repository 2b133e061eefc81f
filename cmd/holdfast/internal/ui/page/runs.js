// The runs of a job that have ended, newest first. A run with an output has a row below it that opens.
import { html } from './html.js';
import { moment, span } from './format.js';

const CLASSES = { done: 'good', failed: 'bad', crashed: 'bad', interrupted: 'warn' };

export function Runs({ runs }) {
  return html`<section id="runs" aria-labelledby="runs-title"><div class="title"><h2 id="runs-title">Runs</h2><span class="dim">newest first</span></div>
    ${runs.length === 0
      ? html`<p class="empty">No run has ended yet.</p>`
      : html`<ol class="runs">${runs.map((r) => html`<li key=${`${r.tick} ${r.attempt} ${r.started}`}>
          <div class="run"><span class="state ${CLASSES[r.state] ?? ''}">${r.state}</span><time>${moment(r.started || r.tick)}</time>
            <span class="num">${r.took < 0 ? '–' : span(r.took)}</span>
            <span class="num ${r.exit ? 'bad' : ''}">${r.exit === null || r.exit === undefined ? '' : `exit ${r.exit}`}</span>
            <span class="host">${r.host}${r.attempt > 1 && html` <small>attempt ${r.attempt}</small>`}</span></div>
          ${r.error && html`<p class="error">${r.error}</p>`}
          ${r.output && html`<details><summary>Output</summary><pre tabindex="0">${r.output}</pre></details>`}</li>`)}</ol>`}</section>`;
}
