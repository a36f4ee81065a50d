// What official SDKs need and some servers leave out: the role of a streamed message, the place of a streamed call, the type of a
// call. Everything else stays as it came, byte for byte.
import { findMember, isJsonObject, type JsonText, replaceValues, rewriteMembers } from '../../wire/index.ts';

/** Undefined: nothing is missing. `choices`: of the chunk, as values. `begins`: whether a choice says its first, by its place. */
export function completedDeltas(
  choices: unknown,
  begins: (place: number) => boolean,
  json: () => { readonly json: JsonText; readonly deltas: readonly (number | undefined)[] },
): string | undefined {
  const changes = new Map<number, ReadonlyMap<string, unknown>>();
  for (const [place, choice] of (Array.isArray(choices) ? choices : []).entries()) {
    if (!isJsonObject(choice) || !isJsonObject(choice.delta)) continue;
    const { role, tool_calls: calls } = choice.delta;
    const added = new Map<string, unknown>();
    if (begins(place) && (role ?? '') === '') added.set('role', 'assistant');
    if (Array.isArray(calls)) {
      const completed = calls.map(completedPiece);
      if (completed.some((call, index) => call !== calls[index])) added.set('tool_calls', completed);
    }
    if (added.size > 0) changes.set(place, added);
  }
  if (changes.size === 0) return undefined;
  const { json: scanned, deltas } = json();
  const replaced = [...changes].flatMap(([place, added]) => {
    const delta = deltas[place];
    return delta === undefined ? [] : [[delta, rewriteMembers(scanned, added, delta)] as const];
  });
  return replaceValues(scanned, replaced);
}

/** The same value where nothing is missing. A piece with an id begins its call. */
function completedPiece(call: unknown, place: number): unknown {
  if (!isJsonObject(call)) return call;
  const hasPlace = (call.index ?? null) !== null;
  const hasType = (call.type ?? null) !== null || (call.id ?? '') === '' || !isJsonObject(call.function);
  if (hasPlace && hasType) return call;
  return { ...call, ...(hasPlace ? {} : { index: place }), ...(hasType ? {} : { type: 'function' }) };
}

/** Undefined: nothing is missing. */
export function completedMessages(json: JsonText, messages: readonly number[]): string | undefined {
  const replaced = messages.flatMap((message) => {
    const calls = json.isObject(message) ? findMember(json, 'tool_calls', message) : undefined;
    if (calls === undefined || !json.isArray(calls)) return [];
    const untyped = Array.from(json.inside(calls)).filter((call) => isUntypedFunction(json, call));
    return untyped.map((call) => [call, rewriteMembers(json, new Map([['type', 'function']]), call)] as const);
  });
  return replaced.length === 0 ? undefined : replaceValues(json, replaced);
}

const isUntypedFunction = (json: JsonText, call: number): boolean =>
  json.isObject(call) &&
  findMember(json, 'type', call) === undefined &&
  findMember(json, 'function', call) !== undefined;
