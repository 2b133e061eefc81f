// A search asks the server for the rows that fit a filter. The tabs use it if the reading does not have all rows.
import { Component } from './html.js';

const TYPING = 250; // ms after the last key
const AGAIN = 2000; // ms between two answers to one search

export const query = (path, args) => `${path}?${new URLSearchParams(args)}`;

// Search renders show(found). found is the last answer to url, or null. An empty url asks nothing.
export class Search extends Component {
  constructor() {
    super();
    this.state = { found: null, to: '' };
  }

  componentDidMount() {
    this.ask(0);
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
    this.gone = true;
  }

  componentDidUpdate({ url }) {
    if (url !== this.props.url) this.ask(TYPING);
  }

  ask(delay) {
    clearTimeout(this.timer);
    const { url } = this.props;
    if (url) this.timer = setTimeout(() => this.fetch(url), delay);
  }

  async fetch(url) {
    try {
      const answer = await fetch(url);
      if (answer.ok && !this.gone) this.setState({ found: await answer.json(), to: url });
    } catch {
      // the header says that the server does not answer
    }
    if (!this.gone && url === this.props.url) this.ask(AGAIN);
  }

  render({ url, show }, { found, to }) {
    return show(url && to === url ? found : null);
  }
}

