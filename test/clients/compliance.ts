// `npm run test:compliance`: the public suite llm-comply (PyPI, MIT) compares answers with the published descriptions
// of Anthropic's Messages, of Open Responses and of chat completions, on each interface with models of the formats that
// are translated for it. At a provider with the same interface, the provider's own answers are relayed, so nothing of
// the gateway would be tested.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { Skipped, tryCommand } from '../../infra/verify/verify-step.ts';
import type { BasePath } from '../../shared/foundation/constants/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { thinkers } from './any-format-agent.ts';
import { baseUrlOf } from './client-gateway.ts';
import { virtualEnvironment } from './python-environment.ts';
import { complianceResults } from './results.ts';

interface Suite {
  /** The interface's name in the program. */
  readonly name: string;
  readonly interface: keyof typeof thinkers;
  readonly base: BasePath;
  /** The beginning of models' ids; reasoning is tested with names that the suite knows. */
  readonly prefix: string;
}

const suites: readonly Suite[] = [
  { name: 'openai-chat', interface: 'chat-completions', base: '/openai/v1', prefix: 'gpt-5' },
  { name: 'anthropic', interface: 'messages', base: '/v1', prefix: 'claude-sonnet-4-5' },
  { name: 'open-responses', interface: 'responses', base: '/openai/v1', prefix: 'gpt-5' },
];
const formats = Object.keys(thinkers) as readonly (keyof typeof thinkers)[];

interface Result {
  readonly summary: { readonly total: number; readonly passed: number; readonly skipped: number };
  readonly results: readonly { readonly id: string; readonly status: string; readonly errors?: readonly string[] }[];
}

async function runSuite(python: string, gateway: Harness, suite: Suite, format: string): Promise<string> {
  const cliArgs = ['--format', suite.name, '-u', baseUrlOf(gateway, suite.base), '-k', gateway.key, '--json'];
  const model = `${suite.prefix}/${format}`;
  const { output } = await tryCommand(join(dirname(python), 'llm-comply'), [...cliArgs, '-m', model], {
    timeoutMs: 120_000,
  });
  const { summary, results } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as Result;
  for (const { id, errors = [] } of results.filter(({ status }) => status === 'failed')) {
    process.stdout.write(`  ${suite.name}, ${format}, ${id}: ${errors.join('; ').slice(0, 600)}\n`);
  }
  return `${summary.passed} of ${summary.total - summary.skipped}`;
}

async function runSuites(): Promise<void> {
  useOneFolderForTheRun();
  const python = await virtualEnvironment('requirements-compliance.txt');
  const gateway = await startHarness({
    models: Object.fromEntries(
      ['gpt-5', 'claude-sonnet-4-5'].flatMap((prefix) =>
        formats.map((format) => [`${prefix}/${format}`, [{ provider: format, upstream: `${thinkers[format]}/echo` }]]),
      ),
    ),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
  });
  try {
    const rows: Record<string, Record<string, string>> = {};
    for (const suite of suites) {
      const cells: Record<string, string> = {};
      for (const format of formats) {
        cells[format] = format === suite.interface ? 'relayed' : await runSuite(python, gateway, suite, format);
      }
      rows[suite.name] = cells;
      process.stdout.write(`ok       llm-comply, ${suite.name}: ${Object.values(cells).join(', ')}\n`);
    }
    assert.deepEqual(complianceResults, rows, 'results.ts');
  } finally {
    await gateway.stop();
  }
}

await runSuites().catch((error: unknown) => {
  const isSkipped = error instanceof Skipped;
  if (!isSkipped) process.exitCode = 1;
  process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  llm-comply: ${(error as Error).message}\n`);
});
