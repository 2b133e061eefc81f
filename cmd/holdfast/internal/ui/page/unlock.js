// Takes a lock away. The reader types the label of the holder to confirm. The server gets the token of the lease that the
// page shows, so that a later lease of the same holder stays.
import { html, Component } from './html.js';
import { send } from './action.js';

const NOBODY = { label: '', fence: 0, slot: 0 };
const id = (h) => `${h.label} ${h.fence} ${h.slot ?? 0}`;

export class Unlock extends Component {
  constructor() {
    super();
    this.state = { holder: NOBODY, typed: '', said: '', bad: false };
  }

  open(holder) {
    this.setState({ holder, typed: '', said: '' }, () => document.getElementById('unlock').showModal());
  }

  async take(e) {
    e.preventDefault();
    const { name, slots, csrf, then } = this.props;
    const { label, fence, slot = 0 } = this.state.holder;
    document.getElementById('unlock').close();
    const failed = await send('/unlock', { name, slots, slot, label, fence }, csrf);
    this.setState({ said: failed || `The lock was taken away from ${label}. Its work may go on until it notices.`, bad: !!failed });
    then();
  }

  render({ name, slots, holders }, { holder, typed, said, bad }) {
    const all = [...new Map(holders.filter((h) => !h.note && h.fence).map((h) => [id(h), h])).values()]; // the readers of a process share a lease
    const what = (h) => (slots ? `slot ${h.slot}` : 'it');
    const wrong = typed !== holder.label;
    return html`<div class="actions">${all.map((h) => html`<button key=${id(h)} type="button" class="danger" onClick=${() => this.open(h)}>Take ${what(h)} away from ${h.label}…</button>`)}
      ${said && html`<p role="status" class=${bad ? 'bad' : 'good'}>${said}</p>`}
      <dialog id="unlock" aria-labelledby="unlock-title"><form onSubmit=${(e) => this.take(e)}>
        <h2 id="unlock-title">Take ${slots ? `slot ${holder.slot} of ` : ''}${name} away from ${holder.label}?</h2>
        <p>The next waiter gets it at once. The work of the old holder goes on until it notices: two may work for that time.</p>
        <label for="typed">Type <code>${holder.label}</code> to confirm. Its token is ${holder.fence}.</label>
        <input id="typed" autocomplete="off" value=${typed} onInput=${(e) => this.setState({ typed: e.target.value })} />
        <div class="buttons"><button type="button" onClick=${() => document.getElementById('unlock').close()}>Cancel</button>
          <button type="submit" class="danger" disabled=${wrong}>Take it away</button></div></form></dialog></div>`;
  }
}
