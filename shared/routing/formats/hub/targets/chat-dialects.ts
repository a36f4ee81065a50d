// Corrects chat completions of servers that their package cannot read: arguments of calls that are no texts, and a
// whole message in place of pieces.

import { createDistinctIds } from '../../../../protocol/hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';

/** Arguments that are an object, null, or missing. In a text of the model the quotes have a backslash before them. */
const otherArguments = /"arguments"\s*:\s*[^"\s]|"function"\s*:\s*\{\s*"name"\s*:\s*"[^"]*"\s*\}/;
const wholeMessage = /"message"\s*:\s*\{/;

/** A call begins, whose id an earlier one may have. */
function hasCallWithId(text: string): boolean {
  const at = text.indexOf('"tool_calls"');
  return at >= 0 && text.includes('"id"', at);
}

/** Most answers need not be looked into. */
export const hasDialect = (text: string): boolean => otherArguments.test(text) || hasCallWithId(text);
export const hasDialectInPieces = (text: string): boolean =>
  otherArguments.test(text) || hasCallWithId(text) || (wholeMessage.test(text) && !text.includes('"delta"'));

/** The choices of an answer as the package reads them. */
export const usualChoices = (choices: unknown): unknown =>
  openCallIds()(
    mapObjects(choices, (choice) =>
      isJsonObject(choice.message) ? { ...choice, message: withTexts(choice.message, noArguments) } : choice,
    ),
    'message',
  );

/** Gives calls of one answer ids of their own, where a model gave several one: an index says which call a piece belongs to. */
export function openCallIds(): (choices: unknown, name: 'message' | 'delta') => unknown {
  const distinct = createDistinctIds();
  const known = new Map<string, string>();
  const ownId = (place: string, id: unknown): unknown => {
    if (typeof id !== 'string' || id === '') return id;
    const distinctId = known.get(place) ?? distinct(id);
    known.set(place, distinctId);
    return distinctId;
  };
  return (choices, name) =>
    mapObjects(choices, (choice, choiceAt) => {
      const message = choice[name];
      if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return choice;
      const calls = mapObjects(message.tool_calls, (call, at) => {
        const place = `${choice.index ?? choiceAt} ${call.index ?? at}`;
        return 'id' in call ? { ...call, id: ownId(place, call.id) } : call;
      });
      return { ...choice, [name]: { ...message, tool_calls: calls } };
    });
}

/** Returns the choices of a chunk with usual pieces. */
export const usualPieces = (choices: unknown): unknown =>
  mapObjects(choices, ({ message, ...choice }) => {
    const piece = choice.delta ?? message;
    if (!isJsonObject(piece)) return choice;
    // Each call has an index in a stream.
    const calls = mapObjects(piece.tool_calls, (call, index) => ({ index, ...call }));
    return {
      ...choice,
      delta: withTexts({ ...piece, ...(piece.tool_calls === undefined ? {} : { tool_calls: calls }) }, ''),
    };
  });

/** Arguments of a call without any. */
const noArguments = '{}';

const withTexts = (message: JsonObject, none: string): JsonObject =>
  message.tool_calls === undefined
    ? message
    : {
        ...message,
        tool_calls: mapObjects(message.tool_calls, (call) =>
          isJsonObject(call.function) ? { ...call, function: withText(call.function, none) } : call,
        ),
      };

function withText(called: JsonObject, none: string): JsonObject {
  const { arguments: written } = called;
  if (typeof written === 'string') return called;
  return { ...called, arguments: (written ?? null) === null ? none : JSON.stringify(written) };
}

const mapObjects = (list: unknown, change: (item: JsonObject, at: number) => JsonObject): unknown =>
  Array.isArray(list) ? list.map((item: unknown, at) => (isJsonObject(item) ? change(item, at) : item)) : list;
