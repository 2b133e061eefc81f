// Runs, pauses and resumes a job, and withdraws a request for a run. The reader confirms a run, and says why a job is paused.
import { html, Component } from './html.js';
import { send } from './action.js';

const MOST_NOTE = 100; // characters
const SAID = {
  run: 'Asked.', cancel: 'The request is withdrawn.',
  pause: 'It is paused: no tick is taken.', resume: 'It goes on with its next tick.',
};
const DIALOGS = {
  run: { title: 'Run', text: 'A machine that has the job runs it now, beside its schedule.', button: 'Run it now' },
  pause: { title: 'Pause', text: 'No machine takes a tick of it until somebody resumes it. A run that goes on ends first.', button: 'Pause it' },
};

export class JobActions extends Component {
  constructor() {
    super();
    this.state = { said: '', bad: false, busy: false, what: 'run', note: '' };
  }

  open(what) {
    this.setState({ what, note: '', said: '' }, () => document.getElementById('job-action').showModal());
  }

  async act(what) {
    document.getElementById('job-action').close();
    this.setState({ busy: true, said: '' });
    const failed = await send('/job', { name: this.props.name, what, note: this.state.note.trim() }, this.props.csrf);
    this.setState({ busy: false, said: failed || SAID[what], bad: !!failed, note: '' });
    this.props.then();
  }

  render({ name, paused, asked }, { said, bad, busy, what, note }) {
    const button = (text, onClick) => html`<button type="button" disabled=${busy} onClick=${onClick}>${text}</button>`;
    const dialog = DIALOGS[what];
    return html`<div class="actions">
      ${asked ? button('Withdraw the request', () => this.act('cancel')) : button('Run now…', () => this.open('run'))}
      ${paused ? button('Resume', () => this.act('resume')) : button('Pause the job…', () => this.open('pause'))}
      ${said && html`<p role="status" class=${bad ? 'bad' : 'good'}>${said}</p>`}
      <dialog id="job-action" aria-labelledby="job-action-title"><form onSubmit=${(e) => { e.preventDefault(); this.act(what); }}>
        <h2 id="job-action-title">${dialog.title} ${name}?</h2><p>${dialog.text}</p>
        <label for="note">Why? Others see this note in the audit of the job.</label>
        <input id="note" autocomplete="off" maxlength=${MOST_NOTE} value=${note} onInput=${(e) => this.setState({ note: e.target.value })} />
        <div class="buttons"><button type="button" onClick=${() => document.getElementById('job-action').close()}>Cancel</button>
          <button type="submit">${dialog.button}</button></div></form></dialog></div>`;
  }
}
