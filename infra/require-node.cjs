// Loaded first by every script of package.json. Written for any Node: an old version would stop at the first TypeScript
// file, with a stack in place of a line.
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
/** From these versions on, Node runs TypeScript files directly. */
const firstMinors = { 22: 18, 23: 6 };

if (major < 22 || minor < (firstMinors[major] || 0)) {
  process.stderr.write(
    `gw: Node ${process.versions.node} is too old: install Node 24, https://nodejs.org (22.18 or newer works)\n`,
  );
  process.exit(1);
}

// Some of these versions report at each start, on standard error, that SQLite and TypeScript are experimental.
const { emitWarning } = process;
process.emitWarning = (warning, ...details) => {
  const [options] = details;
  const type = typeof options === 'object' && options !== null ? options.type : options;
  if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, ...details);
};

// `head`, for example, closes its pipe when it has read enough: the rest has no reader.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// Node ends a process when nothing is left to do, even while it waits for an answer that can no longer come.
const unsettledAwait = 13;
process.once('exit', (code) => {
  if (code === unsettledAwait) process.stderr.write('gw: it ended before its work was done\n');
});
