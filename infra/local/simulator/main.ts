// The simulator as a process of its own: `npm run simulator -- --port 9000`, which brings the Node that it needs.
// Prints `simulator http://127.0.0.1:9000/v1` once it answers; SIGINT and SIGTERM stop it.
import { parseArgs } from 'node:util';
import { startSimulator } from './start-simulator.ts';

try {
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
  process.stdout.write(`simulator ${simulator.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.stop());
} catch (fault) {
  process.stderr.write(`The simulator cannot start: ${(fault as Error).message}\n`);
  process.exitCode = 1;
}
