// A worker is a process that ends with the run, however that ends, and keeps what Node has compiled in it for the next run:
// a signal alone would keep nothing.
for (const end of ['SIGTERM', 'disconnect']) process.once(end, () => process.exit());
