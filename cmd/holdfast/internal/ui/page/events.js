// What happened since the server began, the latest first.
import { html } from './html.js';
import { near, number } from './format.js';
import { to } from './route.js';

export function Events({ events, now, since, title = 'What happened', most = 50, links = true }) {
  const shown = events.slice(-most).reverse();
  return html`<section id="events" aria-labelledby="events-title"><div class="title"><h2 id="events-title">${title}</h2>
      ${since ? html`<span class="dim">since ${near(since, now)}</span>` : ''}</div>
    ${shown.length === 0
      ? html`<p class="empty">Nothing has been noted.</p>`
      : html`<ol class="list events">${shown.map((e) => html`<li key=${e.seq} class=${e.level}><time>${near(e.at, now)}</time><span class="dot" aria-hidden="true"></span>
          <span>${links && e.name ? html`<a href=${to(e.kind, e.name)}>${e.text}</a>` : e.text}${e.times > 1 && html` <small>${number(e.times)} times</small>`}</span></li>`)}</ol>`}</section>`;
}
