// Serves a guardrail to try the gateway with, with both interfaces: below `/guardrail`, and Bedrock's ApplyGuardrail.
import type { ReadRequest } from './read-request.ts';
import { json, type Steps } from './step.ts';

/** A text with this word is blocked; e-mail addresses are masked. */
const blockedWord = /\bforbidden\b/i;
const failingWord = /\bguardrail-fails\b/;
const address = /[\w.+-]+@[\w-]+\.\w[\w.-]*\w/g;
const mask = '{EMAIL}';
const message = 'This guardrail lets nothing pass that is called forbidden.';

const applyPath = /\/guardrail\/[^/]+\/version\/[^/]+\/apply$/;
/** Characters of a unit, as Bedrock counts them. */
const unitCharacters = 1_000;

/** Returns undefined for a request to a provider. */
export function guardrailSteps({
  path,
  method,
  body,
}: Pick<ReadRequest, 'path' | 'method' | 'body'>): Steps | undefined {
  const isApply = applyPath.test(path);
  if (method !== 'POST' || !(isApply || path.endsWith('/v1/guardrail'))) return undefined;
  const guardrailBody = (body ?? {}) as { texts?: string[]; content?: { text?: { text?: string } }[] };
  const texts = isApply
    ? (guardrailBody.content ?? []).map(({ text }) => text?.text ?? '')
    : (guardrailBody.texts ?? []);
  if (texts.some((text) => failingWord.test(text))) return json(500, { message: 'The guardrail has failed.' });
  const isBlocked = texts.some((text) => blockedWord.test(text));
  const masked = texts.map((text) => text.replaceAll(address, mask));
  const isMasked = masked.some((text, at) => text !== texts[at]);
  if (isApply) return json(200, applied(texts, { isBlocked, isMasked, masked }));
  if (isBlocked) return json(200, { action: 'block', message });
  return json(200, isMasked ? { action: 'mask', texts: masked } : { action: 'pass' });
}

interface Found {
  readonly isBlocked: boolean;
  readonly isMasked: boolean;
  readonly masked: readonly string[];
}

function applied(texts: readonly string[], { isBlocked, isMasked, masked }: Found) {
  const units = texts.reduce((sum, text) => sum + Math.ceil(text.length / unitCharacters), 0);
  const words = isBlocked
    ? { wordPolicy: { customWords: [{ match: 'forbidden', action: 'BLOCKED' }], managedWordLists: [] } }
    : {};
  const found = isMasked
    ? {
        sensitiveInformationPolicy: { piiEntities: [{ match: '…', type: 'EMAIL', action: 'ANONYMIZED' }], regexes: [] },
      }
    : {};
  const isTouched = isBlocked || isMasked;
  return {
    action: isTouched ? 'GUARDRAIL_INTERVENED' : 'NONE',
    outputs: isBlocked ? [{ text: message }] : isMasked ? masked.map((text) => ({ text })) : [],
    assessments: [{ ...words, ...found }],
    usage: {
      topicPolicyUnits: 0,
      contentPolicyUnits: units,
      wordPolicyUnits: units,
      sensitiveInformationPolicyUnits: units,
      sensitiveInformationPolicyFreeUnits: 0,
      contextualGroundingPolicyUnits: 0,
    },
  };
}
