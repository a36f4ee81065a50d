// Serves from the store that the main process has prepared, as one of several processes behind a port (processes.ts).
import cluster from 'node:cluster';
import { enableCompileCache } from 'node:module';
import { removeFolder, type ServingMessage, type ServingOptions, stopMessage } from './processes.ts';

enableCompileCache();
const { listen, openComposition, stopAll } = await import('./open-composition.ts');
const { guardProcess } = await import('../../shared/protocol/http/index.ts');
const { joinProcessMetrics } = await import('./process-metrics.ts');

const options = JSON.parse(process.argv[2] ?? '') as ServingOptions;
const started: (() => Promise<void> | void)[] = [];
let isStopping = false;

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  try {
    await stopAll(started);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`gw: ${lineOf(error)}\n`);
    process.exit(1);
  }
}

const lineOf = (error: unknown): string => String((error as Error).message).split('\n')[0] ?? '';

// A reader of the output that has ended does not fail any request.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
// A terminal sends SIGINT to all processes, but the main process stops them in order.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void stop());
process.on('message', (message) => {
  if (message === stopMessage) void stop();
});
// Without its main process it gets no further calls. Node would end it at once; with this handler its calls end first.
if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
process.once('disconnect', () => {
  const { ownFolder } = options;
  if (ownFolder !== undefined) started.unshift(() => removeFolder(ownFolder));
  void stop();
});

const tell = (message: ServingMessage) => void process.send?.(message);
try {
  const { composition, metrics } = await openComposition(options, started);
  guardProcess(composition.log);
  tell({ port: await listen(composition, joinProcessMetrics(metrics), options, started) });
} catch (error) {
  process.send?.({ failure: lineOf(error) } satisfies ServingMessage, () => process.exit(1));
}
