// A Claude that counts the tokens which it reads from its cache and writes there as Anthropic does: by cache marks,
// each with the blocks before it, looking back over twenty blocks, from a minimum length on. It serves Messages,
// Converse and OpenRouter's chat completions, calls its only tool for a number of turns, then ends.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

export interface CachedPromptCall {
  readonly path: string;
  readonly body: Json;
  readonly input: number;
  readonly read: number;
  readonly written: number;
  readonly marks: number;
}

export interface CachingClaude {
  readonly url: string;
  readonly calls: CachedPromptCall[];
  /** Removes everything that is cached or counted. */
  forget(): void;
  stop(): Promise<void>;
}

const leastTokens = 1_024;
const lookBackBlocks = 20;
const marksMax = 4;
const tokensOf = (text: string) => Math.ceil(text.length / 4);
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);

interface Block {
  readonly text: string;
  isMarked: boolean;
}

/**
 * Returns the blocks in the order of a prompt: tools, instructions, messages. Converse marks a block by a cache point
 * after it.
 */
function blocksOf(body: Json): Block[] {
  const blocks: Block[] = [];
  const add = (where: string, block: Json) => {
    const { cache_control: control, cachePoint, ...rest } = block;
    if (cachePoint !== undefined) {
      const last = blocks.at(-1);
      if (last !== undefined) last.isMarked = true;
    } else blocks.push({ text: where + JSON.stringify(rest), isMarked: control !== undefined });
  };
  const addAll = (where: string, content: unknown) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
    for (const part of parts) add(where, part);
  };
  const { tools: ofConverse } = (body.toolConfig ?? {}) as Json;
  addAll('tool', body.tools ?? ofConverse);
  addAll('system', body.system);
  for (const { role, content, tool_calls: calls } of listOf(body.messages)) {
    addAll(String(role), content);
    addAll('call', calls);
  }
  const last = blocks.at(-1);
  if (body.cache_control !== undefined && last !== undefined) last.isMarked = true;
  return blocks;
}

export async function startCachingClaude(turns: number): Promise<CachingClaude> {
  const cachedKeys = new Set<string>();
  const calls: CachedPromptCall[] = [];

  function count(path: string, body: Json): CachedPromptCall {
    const blocks = blocksOf(body);
    const hash = createHash('sha256');
    let tokens = 0;
    const prefixes = blocks.map(({ text, isMarked }) => {
      hash.update(text);
      tokens += tokensOf(text);
      return { key: hash.copy().digest('hex'), tokens, isMarked };
    });
    const markedPlaces = prefixes.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    if (markedPlaces.length > marksMax) throw new Error(`${markedPlaces.length} marks`);
    const reachable = markedPlaces.flatMap((at) => prefixes.slice(Math.max(0, at - lookBackBlocks + 1), at + 1));
    const read = Math.max(0, ...reachable.filter(({ key }) => cachedKeys.has(key)).map((prefix) => prefix.tokens));
    const ends = markedPlaces
      .map((at) => prefixes[at])
      .filter((prefix) => prefix !== undefined && prefix.tokens >= leastTokens);
    for (const prefix of ends) cachedKeys.add(prefix?.key ?? '');
    const written = Math.max(0, Math.max(0, ...ends.map((prefix) => prefix?.tokens ?? 0)) - read);
    return { path, body, input: tokens, read, written, marks: markedPlaces.length };
  }

  const server = createServer(async (incoming, outgoing) => {
    const body = JSON.parse(await textOf(incoming)) as Json;
    try {
      const promptCall = count(incoming.url ?? '', body);
      calls.push(promptCall);
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(answer(promptCall, calls.length < turns, calls.length)));
    } catch (error) {
      outgoing.writeHead(400, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: String(error) } }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    forget() {
      cachedKeys.clear();
      calls.length = 0;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

interface Called {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

function completion({ input, read, written }: CachedPromptCall, calledTool: Called | undefined): Json {
  const fn = calledTool && { name: calledTool.name, arguments: JSON.stringify(calledTool.input) };
  const message = calledTool
    ? { content: null, tool_calls: [{ id: calledTool.id, type: 'function', function: fn }] }
    : { content: 'Done.' };
  const finish = calledTool ? 'tool_calls' : 'stop';
  return {
    id: 'gen-1',
    object: 'chat.completion',
    created: 1,
    model: 'claude',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
    usage: {
      prompt_tokens: input,
      completion_tokens: 9,
      total_tokens: input + 9,
      prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    },
  };
}

function answer(promptCall: CachedPromptCall, callsTool: boolean, turn: number): Json {
  const { path, input, read, written } = promptCall;
  const plain = input - read - written;
  const call = { name: 'look', input: { page: turn } };
  if (path.includes('/converse')) {
    const content = callsTool ? [{ toolUse: { toolUseId: `call_${turn}`, ...call } }] : [{ text: 'Done.' }];
    return {
      output: { message: { role: 'assistant', content } },
      stopReason: callsTool ? 'tool_use' : 'end_turn',
      usage: {
        inputTokens: plain,
        outputTokens: 9,
        totalTokens: plain + 9,
        cacheReadInputTokens: read,
        cacheWriteInputTokens: written,
      },
      metrics: { latencyMs: 1 },
    };
  }
  if (path.includes('/chat/')) return completion(promptCall, callsTool ? { ...call, id: `call_${turn}` } : undefined);
  return {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: callsTool ? [{ type: 'tool_use', id: `toolu_${turn}`, ...call }] : [{ type: 'text', text: 'Done.' }],
    stop_reason: callsTool ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: plain,
      output_tokens: 9,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    },
  };
}
