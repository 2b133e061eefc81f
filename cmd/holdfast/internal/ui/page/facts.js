// Facts about one thing: pairs of a title and a cell. A cell is a text, or { text, class, note }.
import { html } from './html.js';

export function Facts({ facts }) {
  return html`<dl class="facts">${facts.filter(Boolean).map(([title, cell]) => {
    const c = typeof cell === 'object' ? cell : { text: cell };
    return html`<div><dt>${title}</dt><dd class=${c.class}>${c.text}${c.note && html` <small>${c.note}</small>`}</dd></div>`;
  })}</dl>`;
}

// Heading is the title of the page of one thing.
export const Heading = ({ tab, kind, name, children }) => html`<div class="heading"><p class="crumbs"><a href="#/${tab}">${tab[0].toUpperCase() + tab.slice(1)}</a></p>
  <h2 class="subject"><span class="dim">${kind}</span> <code>${name}</code></h2>${children}</div>`;
