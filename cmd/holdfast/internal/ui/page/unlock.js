// Takes a lock away. The reader types the label of the holder to confirm.
import { html, Component } from './html.js';
import { send } from './action.js';

export class Unlock extends Component {
  constructor() {
    super();
    this.state = { label: '', typed: '', said: '', bad: false };
  }

  open(label) {
    this.setState({ label, typed: '', said: '' }, () => document.getElementById('unlock').showModal());
  }

  async take(e) {
    e.preventDefault();
    const { name, slots, csrf, then } = this.props;
    document.getElementById('unlock').close();
    const failed = await send('/unlock', { name, slots, label: this.state.label }, csrf);
    this.setState({ said: failed || `The lock was taken away from ${this.state.label}. Its work may go on until it notices.`, bad: !!failed });
    then();
  }

  render({ name, holders }, { label, typed, said, bad }) {
    const labels = [...new Set(holders.filter((h) => !h.note && h.fence).map((h) => h.label))];
    return html`<div class="actions">${labels.map((l) => html`<button type="button" class="danger" onClick=${() => this.open(l)}>Take it away from ${l}…</button>`)}
      ${said && html`<p role="status" class=${bad ? 'bad' : 'good'}>${said}</p>`}
      <dialog id="unlock" aria-labelledby="unlock-title"><form onSubmit=${(e) => this.take(e)}><h2 id="unlock-title">Take ${name} away from ${label}?</h2>
        <p>The next waiter gets it at once. The work of the old holder goes on until it notices: two may work for that time.</p>
        <label for="typed">Type <code>${label}</code> to confirm</label>
        <input id="typed" autocomplete="off" value=${typed} onInput=${(e) => this.setState({ typed: e.target.value })} />
        <div class="buttons"><button type="button" onClick=${() => document.getElementById('unlock').close()}>Cancel</button>
          <button type="submit" class="danger" disabled=${typed !== label}>Take it away</button></div></form></dialog></div>`;
  }
}
