// Ends a worker, which is a process, with the run, however the run ends. The exit stores the code that Node has
// compiled for the next run: a signal alone would lose it.
for (const end of ['SIGTERM', 'disconnect']) process.once(end, () => process.exit());
