// Words for times and numbers.

// span returns a duration in ms in two units at most: "350 ms", "12 s", "3 min 12 s", "2 h 5 min", "4 d 1 h".
export function span(ms) {
  if (ms < 0) ms = 0;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s < 600 && s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

// whole returns a duration in whole seconds, so that a live cell does not flicker.
export const whole = (ms) => span(Math.max(0, Math.floor(ms / 1000)) * 1000 || 0).replace(/^0 ms$/, '0 s');

export const ago = (at, now) => `${whole(now - at)} ago`;

const two = (n) => String(n).padStart(2, '0');

// moment returns an instant in local time.
export function moment(at) {
  const d = new Date(at);
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  return `${day} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// near returns an instant without its day if that is today.
export function near(at, now) {
  const text = moment(at);
  return text.slice(0, 10) === moment(now).slice(0, 10) ? text.slice(11) : text;
}

export const number = (n) => n.toLocaleString('en', { maximumFractionDigits: 1 });
export const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? '' : 's'}`;

// place returns the address of a node without its scheme and its database 0.
export const place = (label) => label.replace(/^[a-z+]+:\/\//, '').replace(/\/0$/, '');
