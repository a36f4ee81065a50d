// Lists all behaviours by name. A model name is `anything/NAME:PARAMETER:PARAMETER`; an unknown name behaves as `echo`.

import type { Choice, Frame, SimulatedToolCall } from '../answer.ts';
import { answerText } from '../answer-text.ts';
import { type Behaviour, type Behaviours, numberParameter, type SimulatorCall } from '../call.ts';
import { complete, thought } from '../completion.ts';
import { refuse, respond, streamHead, streamSteps, throughOutput } from '../frames.ts';
import type { RequestTurn } from '../model-request.ts';
import { body, head, type SimulatorStep, type Steps, silence, wait, write } from '../step.ts';
import { promptTokens } from '../tokens.ts';
import { unknownMembersAnswer } from '../unknown-members.ts';
import { answers, echo, jsonContents } from './answers.ts';
import { faultsAfterOutput } from './faults-after-output.ts';
import { faultsBeforeOutput } from './faults-before-output.ts';
import { usages } from './usages.ts';

/** Letters of one to four bytes, and a character of several code points. */
const manyBytes = 'Grüße aus Zürich, 你好 世界 🌍 👩‍🚀 — fertig.';

const hugeDefaultBytes = 1024 * 1024;
const hugestBytes = 64 * 1024 * 1024;
const hugePieceBytes = 1024;

/** Changes the text of a stream; binary frames stay as they are. */
const rewritten =
  (rewrite: (text: string) => string): Behaviour =>
  (call) =>
    call.request.isStream
      ? streamSteps(call, call.format.frames(call, complete(call)), { rewrite })
      : respond(call, complete(call));

const inManyBytes = (call: SimulatorCall): Steps => respond(call, complete(call, { content: manyBytes }));

/** Splits the body once, after the byte at the given position. */
const splitAt: Behaviour = (call) => {
  const position = numberParameter(call, 0, 1);
  return recut(inManyBytes(call), (rest, sentBytes) => (sentBytes < position ? position - sentBytes : rest));
};

const huge =
  (pieceBytes: number): Behaviour =>
  (call) => {
    const bytes = Math.min(numberParameter(call, 0, hugeDefaultBytes), hugestBytes);
    const content = 'lorem ipsum '.repeat(Math.ceil(bytes / 12)).slice(0, bytes);
    const pieces = content.match(new RegExp(`[^]{1,${Math.min(pieceBytes, hugestBytes)}}`, 'g')) ?? [];
    return respond(call, complete(call, { content, pieces } satisfies Partial<Choice>));
  };

const multiLineData = (text: string): string =>
  text.replace(/^data: (\{.*)$/m, (_line, data: string) =>
    JSON.stringify(JSON.parse(data), null, 1)
      .split('\n')
      .map((line) => `data: ${line}`)
      .join('\n'),
  );

const withUnknownMembers: Behaviour = (call) => {
  const { json, frames } = unknownMembersAnswer(call.format, call.body);
  return call.request.isStream ? streamSteps(call, frames) : body(200, 'application/json', json);
};

const framings: Behaviours = {
  'split-utf8': (call) => recut(inManyBytes(call), () => 1),
  'byte-split': (call) => recut(inManyBytes(call), () => numberParameter(call, 0, 1)),
  'split-at': splitAt,
  crlf: rewritten((text) => text.replace(/^data: /m, 'data:').replaceAll('\n', '\r\n')),
  cr: rewritten((text) => text.replaceAll('\n', '\r')),
  comments: rewritten((text) => `: still here\n: data: {"not":"data"}\n:\n\n${text}`),
  'sse-fields': rewritten((text) => `event: message\nid: 7\nretry: 3000\nunknown: x\n${text}`),
  'multi-line-data': rewritten(multiLineData),
  huge: huge(hugePieceBytes),
  'huge-event': huge(hugestBytes),
  'unknown-members': withUnknownMembers,
};

/** A word in a user's text that lists the calls to make in each answer. A gateway may have added more text. */
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

const scripts: Behaviours = {
  scripted: (call) => (isOver(call, call.earlierCalls + 1) ? refuse(call, 500) : doAsWritten(call)),
  window: (call) =>
    isOver(call, promptTokens(call.request))
      ? refuse(call, 400, { code: 'context_length_exceeded' })
      : doAsWritten(call),
};

/** Counts the answered rounds. Adjacent results belong to one answer. */
const answeredRounds = (turns: readonly RequestTurn[]): number =>
  turns.filter(({ role }, at) => role === 'tool' && turns[at - 1]?.role !== 'tool').length;

/** Maximum length of streams that otherwise end only when the client disconnects. */
const repeatsHardLimit = 100_000;
/**
 * Default pause. It does not depend on the server's pace, which tests set to 0, because an endless stream must not
 * become a busy loop.
 */
const repeatDefaultMs = 10;
const intervalMs = (call: SimulatorCall): number => Math.max(1, numberParameter(call, 0, repeatDefaultMs));

/** Sends part of an answer, then nothing. A JSON answer stops in the middle of its declared length. */
const stallAfter =
  (outputs: number): Behaviour =>
  (call) => {
    const completion = complete(call);
    if (call.request.isStream) {
      const frames = throughOutput(call.format.frames(call, completion), numberParameter(call, 0, outputs));
      return streamSteps(call, frames, { ending: silence });
    }
    const text = JSON.stringify(call.format.json(call, completion));
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    return [head(200, headers), write(text.slice(0, text.length / 2)), silence];
  };

const pauses: Behaviours = {
  slow: (call) => [wait(numberParameter(call, 0, 1000)), ...echo(call)],
  'slow-chunks': (call) => echo({ ...call, paceMs: numberParameter(call, 0, 1000) }),
};

/** Answers that do not end. */
const stalls: Behaviours = {
  silent: () => [silence],
  stall: stallAfter(3),
  'stall-after-role': stallAfter(0),
  'trickle-comments': aliveOnly,
  endless: (call) => streamSteps({ ...call, paceMs: intervalMs(call) }, tireless(call), { ending: silence }),
};

const faults: Behaviours = { ...stalls, ...faultsBeforeOutput, ...faultsAfterOutput };

const registry: Behaviours = {
  ...answers,
  ...scripts,
  ...usages,
  ...jsonContents,
  ...framings,
  ...pauses,
  ...faults,
};

export const behaviourNames: readonly string[] = Object.keys(registry);

interface ChosenBehaviour {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly behaviour: Behaviour;
  /** Whether the behaviour changes the answer. A test that scripts the behaviour relies on the change. */
  readonly isFault: boolean;
}

export function chooseBehaviour(model: string): ChosenBehaviour {
  const [name = '', ...parameters] = model.slice(model.lastIndexOf('/') + 1).split(':');
  if (!Object.hasOwn(registry, name)) return { name: 'echo', parameters: [], behaviour: echo, isFault: false };
  return { name, parameters, behaviour: registry[name] ?? echo, isFault: Object.hasOwn(faults, name) };
}

// Lists providers that are slow, and providers that never end.

/** Sends only keep-alives, or nothing if the format has none. */
function* aliveOnly(call: SimulatorCall): Steps {
  const { keepAlive } = call.format;
  yield streamHead(call);
  for (let count = 0; count < repeatsHardLimit && keepAlive !== ''; count += 1) {
    yield write(keepAlive);
    yield wait(intervalMs(call));
  }
  yield silence;
}

function* tireless(call: SimulatorCall): Iterable<Frame> {
  const phrase = 'and on ';
  const beginning = throughOutput(call.format.frames(call, complete(call, { content: phrase, pieces: [phrase] })), 1);
  yield* beginning;
  for (let count = 0; count < repeatsHardLimit; count += 1) yield* beginning.slice(-1);
}

// Lists a model that follows its user's script. The model is for agents, because it calls their tools with meaningful
// arguments.

interface ScriptedCall {
  /** Name as the client writes it, because a gateway may have added a prefix. */
  readonly tool: string;
  readonly arguments: object;
}

function nextCalls(call: SimulatorCall): readonly SimulatedToolCall[] {
  const { turns, tools } = call.request;
  const scriptAt = turns.findLastIndex(({ role, text }) => role === 'user' && scriptWord.test(text));
  const [, script = '[]', behind = ''] = (turns[scriptAt]?.text ?? '').split(scriptWord);
  const since = turns.slice(scriptAt + 1);
  // A client that compacts a conversation asks for a summary, or sends the summary with the next request.
  const userTexts = [behind, ...since.flatMap(({ role, text }) => (role === 'user' ? [text] : []))];
  if (userTexts.some((text) => /\bsummary\b/i.test(text))) return [];
  const answers = JSON.parse(script) as readonly (readonly ScriptedCall[])[];
  return (answers[answeredRounds(since)] ?? []).map(({ tool, arguments: values }) => ({
    id: call.newId('call_'),
    name: tools.find(({ name }) => name === tool || name.endsWith(tool))?.name ?? tool,
    arguments: JSON.stringify(values),
  }));
}

// Lists correct answers in an unusual encoding: split anywhere, with other line ends, comments, extra fields, or of
// great size.

/** Yields the same bytes in other writes: `cutter` returns the size of the next write. */
function* recut(steps: Steps, cutter: (rest: number, sentBytes: number) => number): Iterable<SimulatorStep> {
  let sentBytes = 0;
  for (const step of steps) {
    if (step.kind !== 'write') {
      yield step;
      continue;
    }
    let rest = Buffer.from(step.bytes);
    while (rest.length > 0) {
      const length = Math.max(1, Math.min(rest.length, cutter(rest.length, sentBytes)));
      yield write(rest.subarray(0, length));
      sentBytes += length;
      rest = rest.subarray(length);
    }
  }
}
