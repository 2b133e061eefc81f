// Keys explains the keys. It never changes.
import { Component, html } from './html.js';

export class Keys extends Component {
  shouldComponentUpdate() {
    return false;
  }

  render() {
    return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
      <dl><dt>1 … 6</dt><dd>overview, locks, jobs, elections, semaphores, nodes</dd><dt>/</dt><dd>filter; Esc clears it</dd>
        <dt>w</dt><dd>only locks with waiters</dd><dt>p</dt><dd>freeze the page</dd><dt>?</dt><dd>these keys</dd></dl>
      <form method="dialog"><button>Close</button></form></dialog>`;
  }
}
