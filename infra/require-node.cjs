// Loaded first by every script of package.json. Written for any Node: one that is too old would stop at the first file
// in TypeScript, with a stack in place of a line.
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
/** From these on, files in TypeScript run as they are. */
const firstMinors = { 22: 18, 23: 6 };

if (major < 22 || minor < (firstMinors[major] || 0)) {
  process.stderr.write(
    `gw: Node ${process.versions.node} is too old: install Node 24, https://nodejs.org (22.18 or newer works)\n`,
  );
  process.exit(1);
}

// Some of these versions call SQLite and TypeScript experimental, on standard error, at each start.
const { emitWarning } = process;
process.emitWarning = (warning, ...details) => {
  const [options] = details;
  const type = typeof options === 'object' && options !== null ? options.type : options;
  if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, ...details);
};

// `head`, say, closes its pipe when it has read enough: the rest has no reader.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// Node ends a process when nothing is left to do, also while it waits for an answer that can no longer come.
const unsettledAwait = 13;
process.once('exit', (code) => {
  if (code === unsettledAwait) process.stderr.write('gw: it ended before its work was done\n');
});
