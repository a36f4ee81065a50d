// Retrieval with the frameworks: a gateway with embeddings and answers from a relayed provider, from Bedrock and from
// Vertex, and what each framework must receive from it.
import assert from 'node:assert/strict';
import { type Harness, startHarness } from '../support/harness.ts';

export const passages = [
  'Bread is baked from flour, water and salt.',
  'The capital of Norway is Oslo.',
  'A gateway forwards calls to providers.',
];
export const retrievalQuestion = 'What is the capital of Norway?';
const wantedPassage = passages[1];

const priced = { output_price_per_million: '0', max_output_tokens: 500 };
const vectorsOf = (provider: string, upstream: string) => [
  { provider, upstream, more: { ...priced, apis: ['embeddings'] } },
];

interface VectorSource {
  /** The number of dimensions, by the model's default. */
  readonly dimensions: number;
  readonly format: string;
}

/** Sources of embeddings, each with the models `NAME/vectors` and `NAME/chat`. */
export const vectorSources = {
  acme: { dimensions: 256, format: 'embeddings' },
  bedrock: { dimensions: 1_024, format: 'invoke-model' },
  vertex: { dimensions: 3_072, format: 'predict' },
} satisfies Record<string, VectorSource>;
export type VectorSourceName = keyof typeof vectorSources;
export const vectorSourceNames = Object.keys(vectorSources) as VectorSourceName[];

export const startRetrievalGateway = (): Promise<Harness> =>
  startHarness({
    models: {
      'acme/vectors': vectorsOf('acme', 'echo'),
      'acme/chat': [{ provider: 'acme', upstream: 'echo' }],
      'bedrock/vectors': vectorsOf('bedrock', 'amazon.titan-embed-text-v2:0'),
      'bedrock/chat': [{ provider: 'bedrock', upstream: 'echo', more: { ...priced, apis: ['converse'] } }],
      'vertex/vectors': vectorsOf('vertex', 'text-embedding-005'),
      'vertex/chat': [
        { provider: 'vertex', upstream: 'gemini-2.5-flash', more: { ...priced, apis: ['generate-content'] } },
      ],
    },
    providers: {
      acme: { apis: ['embeddings', 'chat-completions'] },
      bedrock: { kind: 'bedrock' },
      vertex: { kind: 'vertex' },
    },
  });

export interface SeenRetrieval {
  /** Lengths of the vectors of the passages. */
  readonly dimensions: readonly number[];
  /** The text that was found for the question. */
  readonly found: string;
  /** The answer of a chat model that got the text and the question. */
  readonly answer: string;
}

/** Checks one source. `gateway.simulator` must have no other calls of the source's provider. */
export async function checkRetrieval(gateway: Harness, name: VectorSourceName, results: SeenRetrieval): Promise<void> {
  const { dimensions, format } = vectorSources[name];
  assert.deepEqual(
    results.dimensions,
    passages.map(() => dimensions),
  );
  assert.equal(results.found, wantedPassage);
  assert.match(results.answer, /^Hello! You wrote /);
  const calls = gateway.simulator.calls.filter(({ provider }) => provider === name);
  assert.deepEqual(
    new Set(calls.slice(0, -1).map((call) => call.format)),
    new Set([format]),
    'vectors come before the answer',
  );
  const lastBody = calls.at(-1)?.bodyText ?? '';
  for (const text of [wantedPassage, retrievalQuestion])
    assert.ok(lastBody.includes(text ?? ''), `the chat model got “${text}”`);
  await gateway.settled();
  const records = await gateway.records();
  assert.deepEqual(
    records.filter(({ outcome }) => outcome !== 'ok'),
    [],
  );
  assert.ok(records.every(({ costPicoUsd }) => costPicoUsd > 0n));
}
