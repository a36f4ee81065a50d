// The simulator as a process of its own: `npm run simulator -- --port 9000`, which runs on the project's Node. Prints
// `simulator http://127.0.0.1:9000/v1` once it answers; SIGINT and SIGTERM stop it.
import { parseArgs } from 'node:util';
import { runScript } from '../../run-script.ts';
import { startSimulator } from './start-simulator.ts';

await runScript('simulator', async () => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      'pace-ms': { type: 'string', default: '25' },
      credential: { type: 'string' },
    },
  });
  const simulator = await startSimulator({
    port: Number(values.port),
    host: values.host,
    paceMs: Number(values['pace-ms']),
    ...(values.credential === undefined ? {} : { credential: values.credential }),
  });
  // Before the line: a reader of it may stop the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.stop());
  process.stdout.write(`simulator ${simulator.url}\n`);
});
