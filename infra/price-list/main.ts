// `npm run models`: prints the section `models` of a gateway file from a price list. Nothing that is deployed reads the list.
import { readFileSync } from 'node:fs';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { runScript } from '../run-script.ts';
import { modelsSection, usage } from './models-section.ts';

const packageName = '@pydantic/genai-prices';
const manifest = new URL('../../package.json', import.meta.url);

function textOf(args: readonly string[]): string {
  if (args.includes('--help')) return `${usage}\n`;
  const { devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as { devDependencies: Record<string, string> };
  return modelsSection(args, `${packageName} ${devDependencies[packageName]}`, systemClock.nowMs());
}

await runScript('models', () => process.stdout.write(textOf(process.argv.slice(2))), usage.split('\n')[0]);
