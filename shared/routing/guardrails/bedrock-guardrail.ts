// Checks texts with ApplyGuardrail of Amazon Bedrock. This module is loaded with the first check.
import {
  ApplyGuardrailCommand,
  type ApplyGuardrailResponse,
  BedrockRuntimeClient,
  type GuardrailUsage,
} from '@aws-sdk/client-bedrock-runtime';
import type { BedrockGuardrail } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import { mapParallel } from '../../foundation/parallel/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { awsAccess, awsClientSettings } from '../../storage/aws-clients/index.ts';
import type { AskGuardrail, GuardrailAnswer, GuardrailQuestion } from './guardrail-call.ts';

/**
 * Maximum number of characters of one request. The value is cautious, because AWS documents quotas of text units, and
 * no maximum length of a request.
 */
const requestMaxCharacters = 20_000;
const requestsAtOnce = 4;
const socketsMax = 64;
/** Maximum size of an answer, which contains the masked texts and the findings. */
const answerMaxBytes = 4 * 1024 * 1024;

const clients = new WeakMap<Clock, Map<string, BedrockRuntimeClient>>();

function clientIn(region: string, clock: Clock): BedrockRuntimeClient {
  const known = clients.get(clock) ?? new Map<string, BedrockRuntimeClient>();
  clients.set(clock, known);
  const settings = () => awsClientSettings(awsAccess({ region, clock }), { socketsMax, answerMaxBytes });
  const client = known.get(region) ?? new BedrockRuntimeClient(settings());
  known.set(region, client);
  return client;
}

export const bedrockGuardrail =
  (clock: Clock, guardrail: BedrockGuardrail): AskGuardrail =>
  async (question) => {
    const pieces = question.texts.map((text) => piecesOf(text, requestMaxCharacters));
    const requests = groupIntoRequests(pieces.flat());
    const answers = await mapParallel(requests, requestsAtOnce, (batch) => apply(clock, guardrail, question, batch));
    const billed = { ...unitsOf(answers, guardrail) };
    const blocked = answers.find(isBlocked);
    if (blocked !== undefined) return { action: 'block', message: blocked.outputs?.[0]?.text, ...billed };
    if (answers.every(({ action }) => action === 'NONE')) return { action: 'pass', ...billed };
    const masked = answers.flatMap(({ action, outputs = [] }, at) => {
      const batch = requests[at] ?? [];
      return action === 'NONE' ? batch.map(({ text }) => text) : outputs.map(({ text }) => text ?? '');
    });
    return { ...maskedTexts(pieces, masked), ...billed };
  };

/**
 * Returns the masked texts, each joined from its pieces. The result is a block if the service did not return a text for
 * each piece, or if a mask crosses the border of two pieces.
 */
function maskedTexts(pieces: readonly (readonly Piece[])[], masked: readonly string[]): GuardrailAnswer {
  if (masked.length !== pieces.flat().length) return { action: 'block' };
  // `take` continues after the pieces of the previous text.
  const remaining = masked.values();
  const texts = pieces.map((textPieces) => joinPieces(textPieces, remaining.take(textPieces.length).toArray()));
  return texts.every((text) => text !== undefined) ? { action: 'mask', texts } : { action: 'block' };
}

function groupIntoRequests(pieces: readonly Piece[]): Piece[][] {
  const requests: Piece[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    characters += piece.text.length;
    if (characters > requestMaxCharacters) {
      requests.push([]);
      characters = piece.text.length;
    }
    requests.at(-1)?.push(piece);
  }
  return requests;
}

async function apply(
  clock: Clock,
  { guardrail, version, region }: BedrockGuardrail,
  { direction, signal }: GuardrailQuestion,
  batch: readonly Piece[],
): Promise<ApplyGuardrailResponse> {
  const command = new ApplyGuardrailCommand({
    guardrailIdentifier: guardrail,
    guardrailVersion: version,
    source: direction === 'input' ? 'INPUT' : 'OUTPUT',
    content: batch.map(({ text }) => ({ text: { text } })),
  });
  const answer = await clientIn(region, clock).send(command, { abortSignal: signal });
  // The service may report an error with status 200.
  if (answer.action !== 'NONE' && answer.action !== 'GUARDRAIL_INTERVENED')
    throw new Error('an answer without an action');
  return answer;
}

/** True if a finding has the action BLOCKED, or none has the action ANONYMIZED. */
function isBlocked({ action, assessments = [] }: ApplyGuardrailResponse): boolean {
  if (action === 'NONE') return false;
  const actions = [...actionsIn(assessments)];
  return actions.includes('BLOCKED') || !actions.includes('ANONYMIZED');
}

function* actionsIn(found: unknown): Generator<unknown> {
  if (typeof found !== 'object' || found === null) return;
  for (const [name, value] of Object.entries(found)) {
    if (name === 'action') yield value;
    else yield* actionsIn(value);
  }
}

/** AWS prices 1,000 text units together. */
const unitsPerPricedBlock = 1_000n;

function unitsOf(answers: readonly ApplyGuardrailResponse[], { unit_prices: prices }: BedrockGuardrail) {
  let units = 0;
  let costPicoUsd: PicoUsd = 0n;
  for (const [name, count = 0] of answers.flatMap(({ usage }) => Object.entries(usage ?? ({} as GuardrailUsage)))) {
    if (!name.endsWith('Units') || !Number.isSafeInteger(count) || count < 0) continue;
    units += count;
    costPicoUsd += (BigInt(count) * (parseUsd(prices?.[name] ?? '') ?? 0n)) / unitsPerPricedBlock;
  }
  return prices === undefined ? { units } : { units, costPicoUsd };
}

// Splits long texts into pieces for a service. Each piece begins with the end of the piece before, so that the service
// sees every phrase of up to 1,000 characters as a whole.

interface Piece {
  readonly text: string;
  /** Number of characters at its start that repeat the end of the piece before. */
  readonly repeated: number;
}

const repeatedCharacters = 1_000;
/** Number of characters that are searched for a blank at which to cut. */
const cutSearchCharacters = 200;

/** Splits a text. `maxCharacters` is the maximum length of a piece. */
function piecesOf(text: string, maxCharacters: number): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  do {
    const repeated = Math.min(from, repeatedCharacters);
    const to = cutBefore(text, from + maxCharacters - repeated);
    pieces.push({ text: text.slice(from - repeated, to), repeated });
    from = to;
  } while (from < text.length);
  return pieces;
}

/** Returns the position of a cut, which is at a blank if there is a blank, and never inside a surrogate pair. */
function cutBefore(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const blank = text.slice(at - cutSearchCharacters, at).search(/\s\S*$/);
  if (blank >= 0) return at - cutSearchCharacters + blank + 1;
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

/** Joins masked pieces; undefined if a mask reaches into the repeated part, so that it cannot be removed. */
function joinPieces(pieces: readonly Piece[], masked: readonly string[]): string | undefined {
  let whole = '';
  for (const [index, { text, repeated }] of pieces.entries()) {
    const maskedPiece = masked[index] ?? '';
    const start = text.slice(0, repeated);
    if (!maskedPiece.startsWith(start)) return undefined;
    whole += maskedPiece.slice(repeated);
  }
  return whole;
}
