// `npm run test:python-clients`: the client libraries for Python, from PyPI in virtual environments under .cache/,
// through a gateway on both base URLs. Prints one line for what is skipped without Python or a package index.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand, Skipped, tryCommand } from '../../infra/verify/verify-step.ts';
import { basePaths } from '../../shared/foundation/constants/index.ts';
import { formats, type ProviderName, translatedFormats } from './client-gateway.ts';
import { type ErrorKind, errorKinds, exampleTitle, kindsAt } from './error-kinds.ts';
import { chatFormats } from './node-clients.ts';
import { runAnthropic } from './python-anthropic.ts';
import { virtualEnvironment } from './python-environment.ts';
import { startCountedGateway } from './python-gateway.ts';
import { runGoogleAndAws } from './python-google-aws.ts';
import { runInterfaces } from './python-interfaces.ts';
import { runPlayground } from './python-playground.ts';
import { runRetrieval } from './python-retrieval.ts';
import { formatResults, libraryResults, readsAs, requestResults, thinkingResults } from './results.ts';
import { isSentBack, shownAs } from './sent-back.ts';

/** Files of requirements: some libraries need version 2 of OpenAI's client. */
const sets = ['openai-3', 'openai-2'] as const;

/** Clients of Responses, whose streams may have a schema on either base URL. */
const speakResponses = new Set(['pydantic-ai, openai:', 'openai-agents, default']);

interface Seen {
  /** Results, or `{ failed: text }`. Features that a library lacks are absent. */
  readonly features: Readonly<Record<string, unknown>>;
  readonly errors: readonly { readonly requests: number; readonly text: string | null }[];
}
type SeenOfBases = Readonly<Record<(typeof basePaths)[number], Seen>>;

interface SeenOfClient {
  readonly bases: SeenOfBases;
  /** The answers at providers of each format. */
  readonly formats: Readonly<Record<string, unknown>>;
  /** Results on /openai/v1, at providers of each format into which the gateway translates. */
  readonly translated: Readonly<Record<ProviderName, Seen>>;
  /** The last text and the bodies that the provider got, for a whole answer and for a stream, by provider. */
  readonly thinking?: Readonly<Record<string, readonly { readonly text: unknown; readonly bodies: unknown[] }[]>>;
}

const label = { label: 'text' };
const failureIn = (outcome: unknown): string => String((outcome as { failed?: string } | undefined)?.failed);

/** Checks the ids of three answers: two of one Idempotency-Key, one of another. */
function checkKeyed([first = '', again, other]: readonly string[]): void {
  assert.match(first, /^[\w-]{8,}$/);
  assert.equal(again, first, 'the same Idempotency-Key gets the stored answer');
  assert.notEqual(other, first);
}

function checkFeatures(name: string, base: string, features: Seen['features']): void {
  const {
    answer,
    stream,
    tools,
    schema,
    streamed_schema: streamedSchema,
    broken_stream: brokenStream,
    cut_stream: cutStream,
    keyed,
  } = features;
  assert.match(String(answer), /^Hello! /);
  if (stream !== undefined) assert.match(String(stream), /^Hello! You wrote “Hello”/);
  for (const error of stream === undefined ? [] : [brokenStream, cutStream]) {
    assert.match(failureIn(error), /The stream broke off after its first output/);
  }
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

const countsOf = (results: SeenOfBases): string[] =>
  errorKinds.map((_kind, index) => basePaths.map((base) => results[base].errors[index]?.requests).join(' → '));

/**
 * Compares the results with the rows of results.ts. `name, setting` is a variant of a client without a row of its own.
 */
function checkResults(name: string, results: SeenOfBases): void {
  assert.deepEqual(requestResults[name], countsOf(results), `${name}: requests in results.ts`);
  if (name.includes(', ')) return;
  const example = errorKinds.findIndex(({ title }) => title === exampleTitle);
  const read = (base: keyof SeenOfBases) =>
    readsAs(results[base].errors[example]?.text ?? '', errorKinds[example] as never);
  const [, cost] = results['/openai/v1'].features.answer as [string, number | null];
  const { reads, cost: shownAt } = libraryResults[name] ?? {};
  assert.equal(shownAt !== undefined, cost !== null, `${name}: where results.ts says its cost shows`);
  assert.deepEqual(reads, { '/openai/v1': read('/openai/v1'), '/v1': read('/v1') }, `${name}: its row in results.ts`);
}

/** Checks that a feature works at every format as at chat completions, or is refused with a message. */
function checkFormats(name: string, results: SeenOfClient): void {
  const { bases, formats: answers, translated, thinking } = results;
  const cells: Record<string, string> = {};
  for (const format of formats) {
    const failure = failureIn(answers[format]);
    cells[format] = failure === 'undefined' ? 'yes' : 'no';
    if (failure !== 'undefined') assert.match(failure, /No provider of .* serves the interface/);
  }
  assert.deepEqual(
    formats.filter((format) => cells[format] === 'yes'),
    chatFormats,
  );
  // A name with a setting, such as a number of retries, is the same client.
  if (!name.includes('=')) assert.deepEqual(formatResults[name], cells, `${name}: formats in results.ts`);
  for (const [provider, { features, errors }] of Object.entries(translated)) {
    checkFeatures(name, '/openai/v1', features);
    for (const [index, { title, says }] of kindsAt(provider as ProviderName).entries()) {
      const { requests, text } = errors[index] ?? {};
      assert.ok(text?.includes(says), `${provider}, ${title} reads ${text}`);
      const same = bases['/openai/v1'].errors[errorKinds.findIndex((one) => one.title === title)];
      assert.equal(requests, same?.requests, `${name}: requests at ${provider}, ${title}`);
    }
  }
  if (thinking === undefined) return;
  const [messages, converse, gemini] = translatedFormats.map((format) => {
    const [whole, streamResult] = (thinking[format] ?? []).map(({ text, bodies }) => {
      assert.match(String(text), /^The tools answered “sunny”/);
      return isSentBack(bodies);
    });
    return shownAs(whole === true, streamResult === true);
  });
  assert.equal(converse, messages);
  const thinkingWords = { 'Claude (messages, converse)': messages, 'Gemini (generate-content)': gemini };
  assert.deepEqual(
    thinkingResults[`${name}, the message as it came`],
    thinkingWords,
    `${name}: thinking in results.ts`,
  );
}

async function runSet(set: string): Promise<string> {
  const python = await virtualEnvironment(`requirements-${set}.txt`);
  const { gateway, origin, stop } = await startCountedGateway();
  try {
    const requestsOf = (list: readonly ErrorKind[]) => list.map(({ model, keyOf }) => ({ model, key: keyOf(gateway) }));
    const request = JSON.stringify({
      origin,
      key: gateway.key,
      bases: basePaths,
      kinds: requestsOf(errorKinds),
      kinds_at: Object.fromEntries(translatedFormats.map((format) => [format, requestsOf(kindsAt(format))])),
      formats,
      translated: translatedFormats,
      speak_responses: [...speakResponses],
      simulator: `${new URL(gateway.simulator.url).origin}/simulator`,
    });
    const output = await runCommand(python, [join(import.meta.dirname, 'python/check.py'), set], {
      env: { GW_CLIENTS: request, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const clients = Object.entries(
      JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Record<string, SeenOfClient>,
    );
    for (const [name, results] of clients) {
      for (const base of basePaths) checkFeatures(name, base, results.bases[base].features);
      checkErrors(results.bases['/openai/v1']);
      checkResults(name, results.bases);
      checkFormats(name, results);
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
  ['google-aws', runGoogleAndAws],
  ['interfaces', runInterfaces],
  ['retrieval', runRetrieval],
  ['playground', runPlayground],
];
const [only] = process.argv.slice(2);
const selected = runs.filter(([name]) => only === undefined || only === name);
if (selected.length === 0) throw new Error(`"${only}" is none of ${runs.map(([name]) => name).join(', ')}`);
const count = { ok: 0, skipped: 0, FAILS: 0 };
for (const [name, run] of hasPython ? selected : []) {
  const [result, words] = await run().then(
    (text) => ['ok', text] as const,
    (error: Error) => [error instanceof Skipped ? 'skipped' : 'FAILS', error.message] as const,
  );
  count[result] += 1;
  process.stdout.write(`${result.padEnd(8)} ${name}: ${words}\n`);
}
if (count.FAILS > 0) process.exitCode = 1;
process.stdout.write(`${count.ok} of ${selected.length} ok, ${count.skipped} skipped, ${count.FAILS} failed\n`);
