// Structured output: an answer that does not satisfy its schema is asked for again, a bounded number of times. Every
// answer is charged, also one that no client sees.

import { chargedAnswersMax } from '../../../shared/foundation/constants/index.ts';
import { checkAnswer, type SchemaWork } from '../../../shared/protocol/json-schema/index.ts';
import { isJsonObject, type JsonAnswer } from '../../../shared/protocol/wire/index.ts';
import { countAnswer } from '../accounts.ts';
import { chargeAnswer } from '../charge-answer.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AttemptSuccess, ClaimedCall, Turn } from '../stages.ts';

export type Verdict =
  | { readonly kind: 'accepted'; readonly success: AttemptSuccess }
  | { readonly kind: 'again' }
  /** More of the same would change nothing. */
  | { readonly kind: 'exhausted' };

export interface Answered {
  readonly success: AttemptSuccess;
  readonly promptBytes: number;
  readonly answeredAtMs: number;
}

export interface OutputCheck {
  readonly judge: (turn: Turn, answered: Answered) => Promise<Verdict>;
  /** Answers that did not satisfy the schema so far. */
  readonly misses: () => number;
}

export function createOutputCheck(deps: ChatDependencies, call: ClaimedCall): OutputCheck {
  const schema = call.request.responseSchema;
  let misses = 0;

  async function judge(turn: Turn, { success, promptBytes, answeredAtMs }: Answered): Promise<Verdict> {
    // Streams are charged when they end: settlement knows what was relayed.
    if (success.kind === 'stream') return { kind: 'accepted', success };
    const { answer } = success;
    const { tokens } = chargeAnswer(call, turn, answer, promptBytes);
    countAnswer(deps, call.scope, turn, { latencyMs: answeredAtMs - turn.startedAtMs, tokens });
    if (schema === undefined) return { kind: 'accepted', success };
    const checked = await checkChoices(schema, answer, call.schemaWork);
    if (checked.kind === 'valid') return { kind: 'accepted', success: { kind: 'json', answer: checked.answer } };
    misses += 1;
    return misses >= chargedAnswersMax || checked.wasCut ? { kind: 'exhausted' } : { kind: 'again' };
  }
  return { judge, misses: () => misses };
}

type Message = Readonly<Record<string, unknown>>;

type Checked =
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  /** `wasCut`: it ended at its token limit, where the next one would end too. */
  | { readonly kind: 'invalid'; readonly wasCut: boolean };

async function checkChoices(schema: unknown, answer: JsonAnswer, work: SchemaWork): Promise<Checked> {
  const choices: unknown[] = [];
  for (const choice of answer.body.choices as unknown[]) {
    const message = isJsonObject(choice) && isJsonObject(choice.message) ? choice.message : undefined;
    if (!isJsonObject(choice) || message === undefined) return { kind: 'invalid', wasCut: false };
    if (isOtherKind(message)) {
      choices.push(choice);
      continue;
    }
    const text = textOf(message.content);
    const checked = await checkAnswer(schema, text, work);
    if (checked.kind === 'invalid') return { kind: 'invalid', wasCut: choice.finish_reason === 'length' };
    // What a client can parse as it is stays as it is: only what is around the JSON and is none is taken off.
    const isFine = text === message.content && isJson(text);
    choices.push(isFine ? choice : { ...choice, message: { ...message, content: checked.text } });
  }
  return { kind: 'valid', answer: { ...answer, body: { ...answer.body, choices } } };
}

/** A tool call or a refusal: the schema does not speak of it. Many providers put an empty text beside either. */
function isOtherKind({ tool_calls: toolCalls, function_call: functionCall, refusal, content }: Message): boolean {
  if ((Array.isArray(toolCalls) && toolCalls.length > 0) || isJsonObject(functionCall)) return true;
  const isSilent = textOf(content).trim() === '';
  return isSilent && typeof refusal === 'string' && refusal !== '';
}

/** Some providers answer in parts, as prompts are written. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
