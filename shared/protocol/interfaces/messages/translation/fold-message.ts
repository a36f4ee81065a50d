// Builds the message from its events, as the SDKs of its clients do.

import type { WrittenHubAnswer } from '../../../hub/index.ts';
import { stringifyInTurns } from '../../../wire/index.ts';
import type { MessageChange, MessageObject } from './message-object.ts';
import type { BlockDelta, EmitEvent, MessageBlock, Used } from './message-types.ts';

interface FoldedBlock {
  readonly start: MessageBlock;
  /** Text of its deltas: for a tool call, that of its input. */
  text: string;
  signature: string;
}

export function foldMessage() {
  let start: MessageObject | undefined;
  let end: { readonly delta: MessageChange; readonly usage: object; readonly used: Used } | undefined;
  const blocks: FoldedBlock[] = [];

  const add: EmitEvent = (event, used) => {
    if (event.type === 'message_start') start = event.message;
    else if (event.type === 'content_block_start') blocks.push({ start: event.content_block, text: '', signature: '' });
    else if (event.type === 'content_block_delta') addDelta(blocks.at(-1), event.delta);
    else if (event.type === 'message_delta' && used !== undefined) end = { ...event, used };
  };

  async function answer(nextStep: () => Promise<void>): Promise<WrittenHubAnswer> {
    if (start === undefined || end === undefined) throw new Error('a message has not ended');
    const { id, type, role, model, content: _none, ...rest } = start;
    const { report, outputBytes } = end.used;
    const texts: string[] = [];
    for (const block of blocks) texts.push(await textOf(block, nextStep));
    const opening = JSON.stringify({ id, type, role, model }).slice(0, -1);
    const closing = { ...rest, ...end.delta, usage: { ...rest.usage, ...end.usage, ...report?.members } };
    return {
      text: `${opening},"content":[${texts.join(',')}],${JSON.stringify(closing).slice(1)}`,
      usage: report,
      outputBytes,
      finishReasons: [end.delta.stop_reason],
      storedIds: [id],
    };
  }

  return { add, answer };
}

function addDelta(block: FoldedBlock | undefined, delta: BlockDelta): void {
  if (block === undefined) return;
  if (delta.type === 'text_delta') block.text += delta.text;
  else if (delta.type === 'thinking_delta') block.text += delta.thinking;
  else if (delta.type === 'input_json_delta') block.text += delta.partial_json;
  else block.signature += delta.signature;
}

async function textOf({ start, text, signature }: FoldedBlock, nextStep: () => Promise<void>): Promise<string> {
  if (start.type === 'text') return stringifyInTurns({ ...start, text }, nextStep);
  if (start.type === 'thinking') return stringifyInTurns({ ...start, thinking: text, signature }, nextStep);
  // Arguments are written as the model wrote them.
  const { input: _empty, ...call } = start;
  return `${JSON.stringify(call).slice(0, -1)},"input":${text}}`;
}
