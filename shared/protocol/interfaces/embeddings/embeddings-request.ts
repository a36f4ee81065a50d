// Reads a request for embeddings: strict in the fields that the gateway reads, indifferent to the rest.
import * as z from 'zod/mini';
import { fail, type GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { type JsonText, readProviderPreferences, rewriteMembers } from '../../wire/index.ts';
import {
  type ClientRequest,
  hubMembers,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  plainMembers,
  readAskedModels,
  readPlainBody,
  withoutGatewayMembers,
} from '../index.ts';
import { writeEmbeddings } from './embeddings-answer.ts';
import { inputsMax } from './vectors.ts';

export const embeddingsSchema = z.looseObject(plainMembers);

const usedNames = [...new Set([...Object.keys(embeddingsSchema.shape), ...plainGatewayMembers, 'input'])];
const refuseOtherCase = otherCaseCheck([...usedNames, 'user']);
// `input` is checked in the text: thousands of texts are not parsed into values.
const names = new Set([...usedNames, 'user', 'dimensions']);
names.delete('input');
const reading = { names, shapes: {}, indivisible: plainGatewayMembers };
const plainReading = { schema: embeddingsSchema, reading, refuseOtherCase };

export const readEmbeddingsRequest = (json: JsonText): ClientRequest | GatewayError => orFault(() => check(json));

function check(json: JsonText): ClientRequest {
  const { raw, body } = readPlainBody(json, plainReading);
  const { count, longestCharacters, hasTokens } = checkInput(json);
  // A token is at least one byte of the body, whether it is written as text or as a number.
  const textBytes = json.compactBytes;
  const size = {
    maxOutputTokens: 0,
    isOutputOpen: false,
    choices: 1,
    predictionBytes: 0,
    textBytes,
    mediaTokens: 0,
    claudeToolTokens: 0,
    hasMediaElsewhere: false,
    contexts: count,
    answersMax: 1,
  };
  return {
    interfaceId: 'embeddings',
    raw,
    text: () => json,
    ...readAskedModels(body),
    stream: false,
    isOutputOpen: false,
    provider: readProviderPreferences(body.provider ?? {}),
    cache: body.cache ?? undefined,
    preset: undefined,
    responseSchema: undefined,
    keptInput: [],
    answerIs: 'unnamed',
    promptMember: 'input',
    outputBoundMember: undefined,
    user: typeof raw.user === 'string' ? raw.user : undefined,
    needs: () => ({ features: [], schemaMember: undefined, storingMember: undefined, promptBytes: longestCharacters }),
    size: once(() => size),
    ...hubMembers(() => json),
    hubNeeds: () => [
      ...(hasTokens ? [{ kind: 'token_ids', member: 'input' } as const] : []),
      ...((raw.dimensions ?? null) === null ? [] : [{ kind: 'dimensions', member: 'dimensions' } as const]),
    ],
    upstreamBody: ({ model }) => ({
      text: rewriteMembers(json, new Map([...withoutGatewayMembers, ['model', model]])),
      leftOut: [],
    }),
    schemaCheck: undefined,
    writeAnswer: writeEmbeddings,
    openStreamWriter: neverStreamed,
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

export function neverStreamed(): never {
  throw new Error('embeddings are never streamed');
}
