// `npm run test:python-clients`: the client libraries for Python, from PyPI in virtual environments under .cache/, through
// a gateway on both base URLs. Says in one line what is skipped where there is no Python or no package index.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, Skipped, tryCommand } from '../../infra/verify/verify-step.ts';
import { basePaths } from '../../shared/foundation/constants/index.ts';
import { errorKinds, exampleTitle } from './error-kinds.ts';
import { runAnthropic } from './python-anthropic.ts';
import { virtualEnvironment } from './python-environment.ts';
import { startCountedGateway } from './python-gateway.ts';
import { clientRows, readsAs, requestRows } from './readme-table.ts';

/** Files of requirements: some libraries want version 2 of OpenAI's. */
const sets = ['openai-3', 'openai-2'] as const;

/** There a stream may have a schema on either base URL. */
const speakResponses = new Set(['pydantic-ai, openai:', 'openai-agents, default']);

interface Seen {
  /** What came back, or `{ failed: text }`. A library without such a thing leaves it out. */
  readonly features: Readonly<Record<string, unknown>>;
  readonly errors: readonly { readonly requests: number; readonly text: string | null }[];
}
type SeenOfClient = Readonly<Record<(typeof basePaths)[number], Seen>>;

const label = { label: 'text' };
const failureIn = (outcome: unknown): string => String((outcome as { failed?: string } | undefined)?.failed);

/** Ids of three answers: two of one Idempotency-Key, one of another. */
function checkKeyed([first = '', again, other]: readonly string[]): void {
  assert.match(first, /^chatcmpl/);
  assert.equal(again, first, 'the same Idempotency-Key gets the stored answer');
  assert.notEqual(other, first);
}

function checkFeatures(name: string, base: string, { features }: Seen): void {
  const {
    answer,
    stream,
    tools,
    schema,
    streamed_schema: streamedSchema,
    broken_stream: brokenStream,
    keyed,
  } = features;
  assert.match(String(answer), /^Hello! /);
  if (stream !== undefined) assert.match(String(stream), /^Hello! You wrote “Hello”/);
  if (stream !== undefined) assert.match(failureIn(brokenStream), /The stream broke off after its first output/);
  if (tools !== undefined) assert.match(String(tools), /^The tools answered “sunny”/);
  if (keyed !== undefined) checkKeyed(keyed as readonly string[]);
  assert.deepEqual(schema, label);
  if (base === '/openai/v1' || speakResponses.has(name)) assert.deepEqual(streamedSchema, label);
  else assert.match(failureIn(streamedSchema), /400/);
}

function checkErrors({ errors }: Seen): void {
  for (const [index, { title, says }] of errorKinds.entries()) {
    assert.ok(errors[index]?.text?.includes(says), `${title} reads ${errors[index]?.text}`);
  }
}

const countsOf = (seen: SeenOfClient): string[] =>
  errorKinds.map((_kind, index) => basePaths.map((base) => seen[base].errors[index]?.requests).join(' → '));

/** Rows of the README: `name, setting` is a variant of a client, with no row of its own. */
function checkReadme(readme: string, name: string, seen: SeenOfClient): void {
  assert.deepEqual(requestRows(readme)[name], countsOf(seen), `${name}: requests in the README`);
  if (name.includes(', ')) return;
  const example = errorKinds.findIndex(({ title }) => title === exampleTitle);
  const read = (base: keyof SeenOfClient) =>
    readsAs(seen[base].errors[example]?.text ?? '', errorKinds[example] as never);
  const [, cost] = seen['/openai/v1'].features.answer as [string, number | null];
  const row = { showsCost: cost !== null, reads: { '/openai/v1': read('/openai/v1'), '/v1': read('/v1') } };
  assert.deepEqual(clientRows(readme)[name], row, `${name}: its row in the README`);
}

async function runSet(set: string): Promise<string> {
  const python = await virtualEnvironment(`requirements-${set}.txt`);
  const { gateway, origin, stop } = await startCountedGateway();
  try {
    const kinds = errorKinds.map(({ model, keyOf }) => ({ model, key: keyOf(gateway) }));
    const asked = JSON.stringify({ origin, key: gateway.key, bases: basePaths, kinds });
    const output = await runCommand(python, [join(import.meta.dirname, 'python/check.py'), set], {
      env: { GW_CLIENTS: asked, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const clients = Object.entries(
      JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Record<string, SeenOfClient>,
    );
    const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
    for (const [name, seen] of clients) {
      for (const base of basePaths) checkFeatures(name, base, seen[base]);
      checkErrors(seen['/openai/v1']);
      checkReadme(readme, name, seen);
    }
    return clients.map(([name]) => name).join(', ');
  } finally {
    await stop();
  }
}

const hasPython = (await tryCommand('python3', ['--version'])).code === 0;
if (!hasPython) process.stdout.write('skipped  there is no python3 on this machine\n');
const runs: readonly (readonly [name: string, run: () => Promise<string>])[] = [
  ...sets.map((set) => [set, () => runSet(set)] as const),
  ['anthropic', runAnthropic],
];
const [only] = process.argv.slice(2);
for (const [name, run] of hasPython ? runs : []) {
  if (only !== undefined && only !== name) continue;
  try {
    process.stdout.write(`ok       ${name}: ${await run()}\n`);
  } catch (error) {
    const isSkipped = error instanceof Skipped;
    if (!isSkipped) process.exitCode = 1;
    process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  ${name}: ${(error as Error).message}\n`);
  }
}
