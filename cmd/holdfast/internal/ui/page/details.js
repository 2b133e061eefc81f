// Details of one thing. They are asked for with the readings, but at most every two seconds.
import { Component } from './html.js';

const EVERY = 2000; // ms

// Detailed is a component whose state has the details of props.url: { value, error, came }.
export class Detailed extends Component {
  constructor() {
    super();
    this.state = { value: null, error: '', came: 0 };
  }

  componentDidMount() {
    this.ask();
  }

  componentDidUpdate(before) {
    if (this.url(before) !== this.url(this.props)) {
      this.asked = 0;
      this.setState({ value: null, error: '' });
    }
    this.ask();
  }

  componentWillUnmount() {
    this.gone = true;
  }

  async ask(again) {
    const now = performance.now();
    if (this.asking || !this.props.details || (!again && this.asked && now - this.asked < EVERY)) return;
    this.asking = true;
    this.asked = now;
    const url = this.url(this.props);
    let next;
    try {
      const answer = await fetch(url);
      next = answer.ok ? { value: await answer.json(), error: '', came: performance.now() } : { error: (await answer.text()).trim() };
    } catch {
      next = { error: 'the server does not answer' };
    }
    this.asking = false;
    if (!this.gone && url === this.url(this.props)) this.setState(next);
  }
}
