// Runs the simulator as a process of its own: `npm run simulator -- --port 9000`, which runs on the project's Node.
// Prints `simulator http://127.0.0.1:9000/v1` once it answers; SIGINT and SIGTERM stop it.
import { parseArgs } from 'node:util';
import { runScript } from '../../run-script.ts';
import { startSimulator } from './start-simulator.ts';

const usage =
  'npm run --silent simulator -- [--port 9000] [--host 127.0.0.1] [--pace-ms 25] [--credential sk-…]; README.md beside it has the models';

await runScript(
  'simulator',
  async () => {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', default: false },
        port: { type: 'string', default: '0' },
        host: { type: 'string', default: '127.0.0.1' },
        'pace-ms': { type: 'string', default: '25' },
        credential: { type: 'string' },
      },
    });
    if (values.help) return void process.stdout.write(`usage: ${usage}\n`);
    const simulator = await startSimulator({
      port: Number(values.port),
      host: values.host,
      paceMs: Number(values['pace-ms']),
      ...(values.credential === undefined ? {} : { credential: values.credential }),
    });
    // Signals are handled before the line is printed, because a reader of the line may stop the process at once.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.stop());
    process.stdout.write(`simulator ${simulator.url}\n`);
  },
  usage,
);
