// `npm start`: the whole gateway on this machine, offline. Starts what it needs as children, and takes it down again.
import { readOptions, usage } from './options.ts';
import { startLocalGateway } from './start-local-gateway.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  const gateway = await startLocalGateway(options, say);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void gateway.stop().then(() => process.exit(0)));
  }
} catch (error) {
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
  const isUsage = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`gw: ${reason}${isUsage ? `; usage: ${usage}` : ''}\n`);
  process.exit(1);
}
