// Runs, pauses and resumes a job.
import { html, Component } from './html.js';
import { send } from './action.js';

const SAID = { run: 'A process will run it now.', pause: 'It is paused: no tick is taken.', resume: 'It goes on with its next tick.' };

export class JobActions extends Component {
  constructor() {
    super();
    this.state = { said: '', bad: false, busy: false };
  }

  async act(what) {
    this.setState({ busy: true, said: '' });
    const failed = await send('/job', { name: this.props.name, what }, this.props.csrf);
    this.setState({ busy: false, said: failed || SAID[what], bad: !!failed });
    this.props.then();
  }

  render({ paused }, { said, bad, busy }) {
    const button = (what, text) => html`<button type="button" disabled=${busy} onClick=${() => this.act(what)}>${text}</button>`;
    return html`<div class="actions">${button('run', 'Run now')}${paused ? button('resume', 'Resume') : button('pause', 'Pause the job')}
      ${said && html`<p role="status" class=${bad ? 'bad' : 'good'}>${said}</p>`}</div>`;
  }
}
