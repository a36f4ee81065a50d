// Random mixes of calls of every kind: JSON and streams, pairs with one Idempotency-Key, spans, cached answers,
// functions, clients' own keys, insufficient credit, and clients that leave.
import { sha256Hex } from '../../shared/foundation/ids/index.ts';
import { type SpokenInterface, spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';
import {
  aloneModel,
  badProviderFor,
  endlessBehaviours,
  type KeyName,
  modelFor,
  spareModel,
  workspaceOf,
} from './fault-file.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface MixedCall {
  readonly key: KeyName;
  /** The path after the base URL; the default is chat completions. */
  readonly path?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The time after which the client hangs up, whatever it has received by then. */
  readonly leavesAfterMs?: number | undefined;
  readonly idempotent?: IdempotentCall | undefined;
  /** Whether the call is a retry for the time when the first two have ended. */
  readonly comesLater?: boolean;
}

export interface IdempotentCall {
  /** The key of its record in the store. */
  readonly recordKey: string;
  /** Text in every provider call that is made for it; undefined if its provider is called several times. */
  readonly marker: string | undefined;
}

type Json = Record<string, unknown>;
type Kind = (random: SeededRandom, behaviours: readonly string[]) => readonly MixedCall[];

const ask = (model: string, content: string, more: Json = {}): Json => ({
  model,
  messages: [{ role: 'user', content }],
  ...more,
});

const uuidOf = (random: SeededRandom): string => {
  const hex = sha256Hex(String(random.fraction()));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const pickInterface = (random: SeededRandom): SpokenInterface =>
  random.pick([...spokenInterfaces, ...translatedInterfaces]);

/** Makes the same call on a random interface and format. */
function askAny(
  random: SeededRandom,
  model: string,
  content: string,
  more: Json = {},
  clientInterface = pickInterface(random),
): Pick<MixedCall, 'path' | 'body'> {
  const { path, hello } = clientInterface;
  const messages = [{ role: 'user', content }];
  return { path, body: hello(modelFor(clientInterface, model), { messages, max_tokens: 64, ...more }) };
}

function plainCall(
  random: SeededRandom,
  behaviours: readonly string[],
  key: KeyName = 'team',
  clientInterface = pickInterface(random),
): MixedCall {
  const behaviour = random.pick(behaviours);
  const model = random.chance(0.5) ? aloneModel(behaviour) : spareModel(behaviour);
  const more = { stream: random.chance(0.5), usage: { include: random.chance(0.3) } };
  const request = askAny(random, model, `Hello ${random.below(1_000_000)}`, more, clientInterface);
  return { key, ...request, headers: {}, leavesAfterMs: leaves(random, behaviour) };
}

/** Returns when the client leaves. Some clients leave, and so does every client that would otherwise wait for ever. */
const leaves = (random: SeededRandom, behaviour: string): number | undefined =>
  endlessBehaviours.includes(behaviour) || random.chance(0.12) ? random.below(120) : undefined;

/** Returns one call that is sent twice at once. */
function idempotent(
  random: SeededRandom,
  key: KeyName,
  request: Pick<MixedCall, 'path' | 'body'>,
  marker: string | undefined,
): MixedCall[] {
  const name = uuidOf(random);
  const recordKey = `IDEM#${workspaceOf[key]}#${sha256Hex(name)}`;
  const call = { key, ...request, headers: { 'idempotency-key': name }, idempotent: { recordKey, marker } };
  return [call, call];
}

const kinds: readonly Kind[] = [
  (random, behaviours) => [plainCall(random, behaviours)],
  (random, behaviours) => [plainCall(random, behaviours, random.pick(['limited', 'rateLimited', 'sharded', 'capped']))],
  (random) => [plainCall(random, ['echo'], 'poor')],
  // The key may make one call a minute.
  (random) => [1, 2].map(() => plainCall(random, ['echo'], 'rateLimited')),
  (random) => {
    const marker = `once-${uuidOf(random)}`;
    const model = aloneModel(random.pick(['echo', 'cut', 'error-500', 'slow']));
    const request = askAny(random, model, marker, { stream: random.chance(0.5) });
    return idempotent(random, random.pick(['team', 'limited', 'sharded']), request, marker);
  },
  (random, behaviours) => {
    const headers = { 'x-gw-span-id': uuidOf(random) };
    const call = { ...plainCall(random, behaviours), headers };
    return [call, call];
  },
  (random) => {
    const more = { stream: random.chance(0.5), cache: { ttl: 60 } };
    return [{ key: 'team', ...askAny(random, aloneModel('echo'), `Cached ${random.below(3)}`, more), headers: {} }];
  },
  (random) =>
    idempotent(random, 'team', { body: ask('gw/function/prompt', `Prompt ${random.below(1_000_000)}`) }, undefined),
  (random) => [
    { key: 'team', body: ask('gw/function/workflow', JSON.stringify({ topic: random.below(1_000_000) })), headers: {} },
  ],
  (random, behaviours) => {
    const clientInterface = pickInterface(random);
    const call = plainCall(random, behaviours, 'team', clientInterface);
    const body = { ...call.body, provider: { only: badProviderFor(clientInterface) } };
    return [{ ...call, body, headers: { 'x-byok-key': 'sk-of-the-client' } }];
  },
  (random, behaviours) => [plainCall(random, behaviours, 'byok')],
  (random) => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const response_format = { type: 'json_schema', json_schema: { name: 's', schema } };
    const clientInterface = random.pick([spokenInterfaces[0] as SpokenInterface, ...translatedInterfaces]);
    const model = aloneModel(random.pick(['invalid-json', 'invalid-json-once', 'fenced-json', 'echo']));
    return [{ key: 'team', ...askAny(random, model, 'Answer.', { response_format }, clientInterface), headers: {} }];
  },
  (random) => [{ key: 'team', ...askAny(random, 'limited/echo', `Limited ${random.below(1_000_000)}`), headers: {} }],
];

/**
 * Returns `count` calls. `first` come first; `behaviours` are those of the providers for the other calls. Calls with an
 * Idempotency-Key come once more at the end.
 */
export function mixCalls(
  random: SeededRandom,
  count: number,
  behaviours: readonly string[],
  first: readonly MixedCall[] = [],
): readonly MixedCall[] {
  const calls = [...first];
  const again: MixedCall[] = [];
  for (let at = random.below(kinds.length); calls.length + again.length < count; at += 1) {
    const newCalls = (kinds[at % kinds.length] as Kind)(random, behaviours);
    calls.push(...newCalls);
    const [retry] = newCalls.filter(({ idempotent }) => idempotent !== undefined);
    if (retry !== undefined) again.push({ ...retry, comesLater: true });
  }
  return [...calls, ...again].slice(0, count);
}

/** Returns a call of every behaviour, alone, as a stream and as JSON. */
export const everyBehaviour = (random: SeededRandom, behaviours: readonly string[]): readonly MixedCall[] =>
  behaviours.flatMap((behaviour) =>
    [true, false].map((stream) => ({
      key: 'team' as const,
      ...askAny(random, aloneModel(behaviour), `Behave ${behaviour}`, { stream }),
      headers: {},
      leavesAfterMs: endlessBehaviours.includes(behaviour) ? random.below(120) : undefined,
    })),
  );
