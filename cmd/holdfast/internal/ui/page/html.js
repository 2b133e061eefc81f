// The two libraries together: html`…` makes Preact elements. All texts become text nodes, never markup.
import { h } from './lib/preact.js';
import htm from './lib/htm.js';

export { Component, render } from './lib/preact.js';
export const html = htm.bind(h);
