// The guardrails of one call: what they let through of its request and of its answer. Loaded with the first call that has some, in a
// file of its own, so it throws no error of this project.
import type { GuardrailDocument } from '../../configuration/catalogue/index.ts';
import type { InterfaceId } from '../../foundation/constants/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import type { CallMemory } from '../../protocol/memory-budget/index.ts';
import { findMember, type JsonText, replaceValues } from '../../protocol/wire/index.ts';
import { type CheckedTexts, checkTexts, type OpenedGuardrail, type TextChecks } from './check-texts.ts';
import { type FoundText, textsOfRequest } from './find-texts.ts';
import { type HttpGuardrailDependencies, httpGuardrail } from './http-guardrail.ts';

export interface GuardOptions extends Omit<TextChecks, 'guardrails'>, HttpGuardrailDependencies {
  readonly guardrails: readonly GuardrailDocument[];
  readonly interfaceId: InterfaceId;
  readonly memory: CallMemory;
}

export type GuardedRequest =
  /** `text`: of a request whose texts were masked. */
  | { readonly kind: 'passed'; readonly text: string | undefined }
  | Exclude<CheckedTexts, { readonly kind: 'passed' }>
  /** Its input is written in the tokens of a model, which no guardrail reads. */
  | { readonly kind: 'tokens'; readonly guardrail: string };

export interface Guard {
  readonly ids: readonly string[];
  /** Rejects where there is no memory for the texts. */
  checkRequest(json: JsonText): Promise<GuardedRequest>;
}

export async function openGuard({ guardrails, interfaceId, memory, ...more }: GuardOptions): Promise<Guard> {
  const checks: TextChecks = { ...more, guardrails: await Promise.all(guardrails.map((one) => opened(one, more))) };

  async function checkRequest(json: JsonText): Promise<GuardedRequest> {
    const first = guardrails.find(({ on }) => on.includes('input'));
    if (first === undefined) return { kind: 'passed', text: undefined };
    if (interfaceId === 'embeddings' && hasTokens(json)) return { kind: 'tokens', guardrail: first.id };
    const part = memory.openPart();
    await part.reserve(formsOfTexts * json.text.length);
    try {
      const found = await gather(textsOfRequest(interfaceId, json));
      const checked = await checkTexts(checks, 'input', found);
      return checked.kind === 'passed' ? { kind: 'passed', text: maskedText(json, found, checked.texts) } : checked;
    } finally {
      part.keepOnly(0);
    }
  }

  return { ids: guardrails.map(({ id }) => id), checkRequest };
}

/** The texts, what is sent, its bytes, and what comes back. */
const formsOfTexts = 4;

async function opened(
  document: GuardrailDocument,
  { clock, ...deps }: Omit<GuardOptions, 'guardrails' | 'interfaceId' | 'memory'>,
): Promise<OpenedGuardrail> {
  if (document.kind === 'http') return { document, ask: httpGuardrail(deps, document) };
  const { bedrockGuardrail } = await import('./bedrock-guardrail.ts');
  return { document, ask: bedrockGuardrail(clock, document) };
}

/** Parsed in a few milliseconds. */
const turnMaxCharacters = 256 * 1024;
const turnMaxTexts = 2_048;

/** In turns of the event loop. */
export async function gather(texts: Iterable<FoundText>): Promise<FoundText[]> {
  const found: FoundText[] = [];
  let characters = 0;
  let count = 0;
  for (const one of texts) {
    found.push(one);
    characters += one.text.length;
    count += 1;
    if (characters < turnMaxCharacters && count < turnMaxTexts) continue;
    await nextTurn();
    characters = 0;
    count = 0;
  }
  return found;
}

/** Undefined where nothing was changed. */
export function maskedText(json: JsonText, found: readonly FoundText[], texts: readonly string[]): string | undefined {
  const replaced = found.flatMap(({ value, text }, at): [number, string][] => {
    const masked = texts[at];
    return masked === undefined || masked === text ? [] : [[value, JSON.stringify(masked)]];
  });
  return replaced.length === 0 ? undefined : replaceValues(json, replaced);
}

function hasTokens(json: JsonText): boolean {
  const input = findMember(json, 'input');
  if (input === undefined || json.isString(input)) return false;
  return json.inside(input).some((item) => !json.isString(item));
}
