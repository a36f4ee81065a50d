// Reads a request for embeddings: strict in the fields that the gateway reads, indifferent to the rest.
import { fail } from '../../../errors/index.ts';
import type { JsonObject, JsonText } from '../../wire/index.ts';
import { inputsMax } from './vectors.ts';

export function readEmbeddingsInput(json: JsonText, _body: unknown, { dimensions }: JsonObject) {
  const { count, longestCharacters, hasTokens } = checkInput(json);
  return {
    size: { contexts: count },
    promptBytes: longestCharacters,
    hubNeeds: [
      ...(hasTokens ? [{ kind: 'token_ids', member: 'input' } as const] : []),
      ...((dimensions ?? null) === null ? [] : [{ kind: 'dimensions', member: 'dimensions' } as const]),
    ],
  };
}

interface Inputs {
  readonly count: number;
  /** Longest input: the model's context has to fit each of them, not all. */
  readonly longestCharacters: number;
  readonly hasTokens: boolean;
}

/**
 * Checks a text, a list of texts, a list of tokens, or a list of such lists. Their contents are the provider's
 * business.
 */
function checkInput(json: JsonText): Inputs {
  const inputs = [...json.members()].filter(({ name }) => name === 'input');
  const [input, again] = inputs;
  if (again !== undefined) throw fail('invalid_request', { message: 'input: stands twice', param: 'input' });
  if (input === undefined) throw fail('invalid_request', { message: 'input: is missing', param: 'input' });
  const { value } = input;
  const whole = { count: 1, longestCharacters: charactersOf(json, value), hasTokens: !json.isString(value) };
  if (json.isString(value)) return whole;
  if (!json.isArray(value)) {
    throw fail('invalid_request', { message: 'input: must be a text or a list', param: 'input' });
  }
  let count = 0;
  let tokens = 0;
  let longestCharacters = 0;
  let hasTokens = false;
  for (const item of json.inside(value)) {
    count += 1;
    longestCharacters = Math.max(longestCharacters, charactersOf(json, item));
    hasTokens ||= !json.isString(item);
    if (json.isNumber(item)) tokens += 1;
    else if (!json.isString(item) && !json.isArray(item)) {
      throw fail('invalid_request', { message: 'input: must hold texts or tokens', param: `input[${count - 1}]` });
    }
  }
  if (count === 0) throw fail('invalid_request', { message: 'input: is empty', param: 'input' });
  // A list of tokens is one input.
  if (tokens === count) return whole;
  if (count > inputsMax) {
    throw fail('invalid_request', { message: `input: holds more than ${inputsMax} inputs`, param: 'input' });
  }
  return { count, longestCharacters, hasTokens };
}

const charactersOf = (json: JsonText, value: number): number => json.end(value) - json.start(value);
