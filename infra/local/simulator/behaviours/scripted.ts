// A model that follows its user's script: for agents, whose tools it calls with meaningful arguments.
import type { SimulatedToolCall } from '../answer.ts';
import { answerText } from '../answer-text.ts';
import type { Behaviour, Behaviours, SimulatorCall } from '../call.ts';
import { numberParameter } from '../call.ts';
import { complete, thought } from '../completion.ts';
import { refuse, respond } from '../frames.ts';
import type { RequestTurn } from '../model-request.ts';
import { promptTokens } from '../tokens.ts';

interface ScriptedCall {
  /** Name in its client's words: a gateway may have added a prefix. */
  readonly tool: string;
  readonly arguments: object;
}

/** A word of the text of a user: for each answer the calls that it makes. A gateway may have joined more texts to it. */
const scriptWord = /(?:^|\s)Do (\[\[.*?\]\])(?=\s|$)/;

const doAsWritten: Behaviour = (call) => {
  const toolCalls = nextCalls(call);
  const reasoning = call.request.isThinking ? { reasoning: thought } : {};
  const textFields =
    toolCalls.length === 0
      ? { content: answerText(call), finishReason: 'stop' as const }
      : { content: null, finishReason: 'tool_calls' as const };
  return respond(call, complete(call, { ...reasoning, ...textFields, toolCalls }));
};

const isOver = (call: SimulatorCall, count: number): boolean =>
  count > numberParameter(call, 0, Number.POSITIVE_INFINITY);

export const scripts: Behaviours = {
  scripted: (call) => (isOver(call, call.earlierCalls + 1) ? refuse(call, 500) : doAsWritten(call)),
  window: (call) =>
    isOver(call, promptTokens(call.request))
      ? refuse(call, 400, { code: 'context_length_exceeded' })
      : doAsWritten(call),
};

function nextCalls(call: SimulatorCall): readonly SimulatedToolCall[] {
  const { turns, tools } = call.request;
  const scriptAt = turns.findLastIndex(({ role, text }) => role === 'user' && scriptWord.test(text));
  const [, script = '[]', behind = ''] = (turns[scriptAt]?.text ?? '').split(scriptWord);
  const since = turns.slice(scriptAt + 1);
  // A client that compacts a conversation asks for a text about it, or hands that text on.
  const userTexts = [behind, ...since.flatMap(({ role, text }) => (role === 'user' ? [text] : []))];
  if (userTexts.some((text) => /\bsummary\b/i.test(text))) return [];
  const answers = JSON.parse(script) as readonly (readonly ScriptedCall[])[];
  return (answers[answeredRounds(since)] ?? []).map(({ tool, arguments: values }) => ({
    id: call.newId('call_'),
    name: tools.find(({ name }) => name === tool || name.endsWith(tool))?.name ?? tool,
    arguments: JSON.stringify(values),
  }));
}

/** Adjacent results belong to one answer. */
const answeredRounds = (turns: readonly RequestTurn[]): number =>
  turns.filter(({ role }, at) => role === 'tool' && turns[at - 1]?.role !== 'tool').length;
