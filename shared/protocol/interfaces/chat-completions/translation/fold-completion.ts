// The chat completion that its chunks make.

import type { WrittenHubAnswer } from '../../../hub/index.ts';
import { stringifyInTurns } from '../../../wire/index.ts';
import { outputBytesOfMessage } from '../output-of-deltas.ts';
import { readUsageReport } from '../read-usage.ts';
import type { CallDelta, Delta, DetailDelta } from './deltas.ts';
import type { Chunk } from './write-chunks.ts';

export function foldCompletion() {
  let last: Chunk | undefined;
  let usage: object | undefined;
  const finishReasons: string[] = [];
  const said = { content: '', refusal: '', reasoning: '' };
  const details: DetailDelta[] = [];
  const calls: FoldedCall[] = [];
  const images: object[] = [];

  function addDelta(delta: Delta): void {
    said.content += delta.content ?? '';
    said.refusal += delta.refusal ?? '';
    said.reasoning += delta.reasoning ?? '';
    for (const one of delta.reasoning_details ?? []) details[one.index] = joinedDetails(details[one.index], one);
    for (const one of delta.tool_calls ?? []) calls[one.index] = joinedCalls(calls[one.index], one);
    for (const one of delta.images ?? []) images.push(one);
  }

  function add(chunk: Chunk): void {
    last = chunk;
    usage ??= chunk.usage;
    for (const { delta, finish_reason: reason } of chunk.choices) {
      addDelta(delta);
      if (reason !== null) finishReasons.push(reason);
    }
  }

  async function answer(nextStep: () => Promise<void>): Promise<WrittenHubAnswer> {
    const [reason] = finishReasons;
    if (last === undefined || reason === undefined) throw new Error('a completion has not ended');
    const { content, refusal, reasoning } = said;
    const message = {
      role: 'assistant',
      content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(images.length === 0 ? {} : { images }),
    };
    const { id, created, model } = last;
    const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
    const completion = { id, object: 'chat.completion', created, model, choices, ...(usage && { usage }) };
    return {
      text: await stringifyInTurns(completion, nextStep),
      usage: readUsageReport(usage),
      outputBytes: outputBytesOfMessage(message),
      finishReasons,
    };
  }

  return { add, answer };
}

function joinedDetails(known: DetailDelta | undefined, one: DetailDelta): DetailDelta {
  if (known === undefined) return one;
  const text = known.text === undefined ? {} : { text: known.text + (one.text ?? '') };
  const data = known.data === undefined ? {} : { data: known.data + (one.data ?? '') };
  return { ...known, ...one, ...text, ...data };
}

type FoldedCall = Omit<CallDelta, 'index'>;

function joinedCalls(known: FoldedCall | undefined, one: CallDelta): FoldedCall {
  if (known !== undefined) {
    const text = known.function.arguments + one.function.arguments;
    return { ...known, function: { ...known.function, arguments: text } };
  }
  const { index: _place, ...call } = one;
  return call;
}
