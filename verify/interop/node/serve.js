// The lines of remote_test.go: reads `verb name` from stdin, and writes an answer for each.
'use strict';

const readline = require('readline');

// serve prints ready when connected has resolved, and then the result of run for each line.
module.exports = async function serve(connected, run) {
  await connected;
  console.log('ready');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [verb, name] = line.split(' ');
    try {
      console.log(await run(verb, name));
    } catch (e) {
      console.log(`error ${e.name}: ${String(e.message).replace(/\n/g, ' ')}`);
    }
  }
  process.exit(0);
};
