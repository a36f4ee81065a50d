// `npm run models`: prints the section `models` of a gateway file from a price list. Nothing that is deployed reads the list.
import { readFileSync } from 'node:fs';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { modelsSection, usage } from './models-section.ts';

const packageName = '@pydantic/genai-prices';
const manifest = new URL('../../package.json', import.meta.url);

try {
  const { devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as { devDependencies: Record<string, string> };
  const args = process.argv.slice(2);
  if (args.includes('--help')) process.stdout.write(`${usage}\n`);
  else {
    const source = `${packageName} ${devDependencies[packageName]}`;
    process.stdout.write(modelsSection(args, source, systemClock.nowMs()));
  }
} catch (error) {
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
  process.stderr.write(`models: ${reason}; usage: ${usage.split('\n')[0]}\n`);
  process.exitCode = 1;
}
