// A provider of Messages that the checks of Claude Code script: it refuses bodies with the text that a check sets, lets
// the agent read a file if the prompt asks for it, and otherwise answers with one word.
import type { ServerResponse } from 'node:http';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

export interface MessageBody {
  readonly max_tokens: number;
  readonly thinking?: { readonly type: string };
  readonly messages: readonly { readonly role: string; readonly content: string | readonly ClaudeBlock[] }[];
}

export interface ClaudeBlock {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly ClaudeBlock[];
}

/** Returns all blocks of a conversation, including those inside tool results. */
export function blocksOf({ messages }: MessageBody): ClaudeBlock[] {
  const inside = (content: ClaudeBlock['content']): ClaudeBlock[] =>
    content === undefined || typeof content === 'string' ? [] : content.flatMap((one) => [one, ...inside(one.content)]);
  return messages.flatMap(({ content }) => inside(content));
}

export interface Refusing {
  /** Returns the provider's error text for a refused request; undefined if it accepts the request. */
  readonly refuses: (body: MessageBody) => string | undefined;
}

/** Finds `Read /path` in a prompt: the model then calls the tool with this path. */
const askedFile = /Read (\/\S+)/;

export function startMessagesProvider({ refuses }: Refusing): Promise<ScriptedProvider> {
  const provider = startScriptedProvider((outgoing, call) => {
    void provider.then(({ bodies }) => {
      const body = JSON.parse(bodies[call] ?? '{}') as MessageBody;
      const words = refuses(body);
      if (words !== undefined) return refuse(outgoing, words);
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const blocks = blocksOf(body);
      const file = blocks.map(({ text = '' }) => askedFile.exec(text)?.[1]).find((path) => path !== undefined);
      const isRead = blocks.some(({ type }) => type === 'tool_result');
      outgoing.end(file === undefined || isRead ? answerEvents('Done') : readEvents(file));
    });
  });
  return provider;
}

function refuse(outgoing: ServerResponse, message: string): void {
  outgoing.writeHead(400, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }));
}

const eventOf = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const usage = { input_tokens: 10, output_tokens: 9 };
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };

/** The model begins to reason, and shows nothing of it. */
export const thinkingBegun: string =
  eventOf('message_start', { message }) +
  eventOf('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } });

export const thinkingEnded: string =
  eventOf('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }) +
  eventOf('content_block_stop', { index: 0 });

const ended = (index: number, reason: string): string =>
  eventOf('content_block_stop', { index }) +
  eventOf('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage }) +
  eventOf('message_stop');

export const textEvents = (text: string, index: number): string =>
  eventOf('content_block_start', { index, content_block: { type: 'text', text: '' } }) +
  eventOf('content_block_delta', { index, delta: { type: 'text_delta', text } }) +
  ended(index, 'end_turn');

const answerEvents = (text: string): string => eventOf('message_start', { message }) + textEvents(text, 0);

function readEvents(file: string): string {
  const tool = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} };
  const input = JSON.stringify({ file_path: file });
  return (
    thinkingBegun +
    thinkingEnded +
    eventOf('content_block_start', { index: 1, content_block: tool }) +
    eventOf('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: input } }) +
    ended(1, 'tool_use')
  );
}
