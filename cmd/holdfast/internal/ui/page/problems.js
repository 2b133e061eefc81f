// The problems of a reading in words, the most serious ones first.
import { html } from './html.js';
import { plural } from './format.js';
import { to } from './route.js';

export function Problems({ r }) {
  if (!r.problems.length) {
    return html`<section id="problems" class="calm" aria-label="Problems"><p><strong>Nothing needs attention.</strong> All nodes vote, and all locks and jobs are known.</p></section>`;
  }
  return html`<section id="problems" aria-labelledby="problems-title"><h2 id="problems-title">Needs attention</h2>
    <ul class="list">${r.problems.map((p) => html`<li key=${p.kind + p.name + p.text.length} class=${p.level}><span class="dot" aria-hidden="true"></span>
      ${p.name ? html`<a href=${to(p.kind, p.name)}>${p.text}</a>` : html`<span>${p.text}</span>`}</li>`)}</ul>
    ${r.more_problems > 0 && html`<p class="dim">And ${plural(r.more_problems, 'more problem')}: the tabs have them first.</p>`}</section>`;
}
