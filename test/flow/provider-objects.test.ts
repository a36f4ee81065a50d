// Objects that a workspace's call leaves at its provider are open to the workspace's later calls only: stored answers,
// audio, containers and the files in them, answers to compare with.

import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, type ServedGateway, startHarness } from '../support/harness.ts';
import {
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';
import { aroundStore } from '../support/wrapped-store.ts';

type Json = Record<string, unknown>;

const otherKey = newKey();
const model = 'on/scripted';
const extras = ['code_execution', 'code_interpreter'];
const apis = ['chat-completions', 'messages', 'responses'];

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, prompt_tokens: 10, completion_tokens: 5 };
const asks = [{ role: 'user', content: 'Hi.' }];
const choice = (more: Json) => ({ index: 0, finish_reason: 'stop', ...more });
const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm', usage };
const message = { type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null, usage };
const fileResult = {
  type: 'bash_code_execution_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: { type: 'bash_code_execution_result', content: [{ type: 'bash_code_execution_output', file_id: 'file_9' }] },
};
const interpreted = {
  type: 'code_interpreter_call',
  id: 'ci_9',
  code: '1',
  container_id: 'cntr_9',
  status: 'completed',
};
const outputMessage = {
  type: 'message',
  id: 'msg_9',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi.' }],
};
const response = { id: 'resp_9', object: 'response', created_at: 1, model: 'm', status: 'completed', usage };

interface Row {
  readonly title: string;
  readonly path: string;
  readonly first: Json;
  readonly answer: object | readonly Json[];
  readonly later: Json;
}

const rows: readonly Row[] = [
  {
    title: 'sound of a completion',
    path: '/chat/completions',
    first: { messages: asks },
    answer: {
      ...completion,
      choices: [choice({ message: { role: 'assistant', content: null, audio: { id: 'audio_9' } } })],
    },
    later: { messages: [...asks, { role: 'assistant', audio: { id: 'audio_9' } }, ...asks] },
  },
  {
    title: 'sound of a streamed completion',
    path: '/chat/completions',
    first: { messages: asks, stream: true },
    answer: [
      { id: 'c', choices: [{ index: 0, delta: { audio: { id: 'audio_9', transcript: 'Hi.' } } }] },
      { id: 'c', choices: [choice({ delta: {} })] },
    ],
    later: { messages: [...asks, { role: 'assistant', audio: { id: 'audio_9' } }, ...asks] },
  },
  {
    title: 'a file that code of a message made',
    path: '/messages',
    first: { messages: asks, max_tokens: 9 },
    answer: {
      ...message,
      id: 'msg_8',
      content: [fileResult, { type: 'text', text: 'Done.' }],
      container: { id: 'container_9' },
    },
    later: {
      messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_9' }] }],
      max_tokens: 9,
      container: 'container_9',
    },
  },
  {
    title: 'a file that code of a streamed message made',
    path: '/messages',
    first: { messages: asks, max_tokens: 9, stream: true },
    answer: [
      { type: 'message_start', message: { ...message, id: 'msg_8', content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: fileResult },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', container: { id: 'container_9' } }, usage },
      { type: 'message_stop' },
    ],
    later: {
      messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_9' }] }],
      max_tokens: 9,
      container: 'container_9',
    },
  },
  {
    title: 'a container of a response that is not stored',
    path: '/responses',
    first: { input: 'Hi.', store: false, max_output_tokens: 16 },
    answer: { ...response, store: false, output: [interpreted, outputMessage] },
    later: { input: [interpreted, { role: 'user', content: 'And?' }], store: false, max_output_tokens: 16 },
  },
  {
    title: 'a response and its items',
    path: '/responses',
    first: { input: 'Hi.', max_output_tokens: 16 },
    answer: { ...response, output: [interpreted, outputMessage] },
    later: { input: [{ id: 'ci_9' }, { id: 'msg_9' }], previous_response_id: 'resp_9', max_output_tokens: 16 },
  },
];

let gateway: Harness;
let provider: ScriptedProvider;
let answer: Row['answer'] = {};
const writes: string[] = [];

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    sendReply(outgoing, Array.isArray(answer) ? eventsReply(...answer) : jsonReply(answer));
  });
  gateway = await startHarness({
    models: {
      [model]: [{ provider: 'scripted', upstream: 'm', more: { supported_params: { tools: true, extras } } }],
      'on/claude': [{ provider: 'converse', upstream: 'anthropic.claude-haiku-4-5-v1' }],
    },
    providers: { scripted: { base_url: provider.url, apis }, converse: { apis: ['converse'] } },
    moreWorkspaces: [{ id: 'other', credit_usd: '100', keys: [{ name: 'first', key: otherKey }] }],
    wrapStore: (store) =>
      aroundStore(store, (call, run) => {
        if (call.table === 'spans' && call.method !== 'get') writes.push(call.method);
        return run();
      }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});
afterEach(() => {
  writes.length = 0;
});

async function ask(path: string, body: Json, key = gateway.key, at: ServedGateway = gateway) {
  const bodiesBefore = provider.bodies.length;
  const response = await at.postTo(path, { model, ...body }, { authorization: `Bearer ${key}` });
  const text = await response.text();
  return {
    status: response.status,
    text,
    leftOut: response.headers.get('x-gw-left-out'),
    sent: provider.bodies.slice(bodiesBefore),
  };
}

describe.each(rows)('$title', ({ path, first, later, ...row }) => {
  const makeFirst = async () => {
    answer = row.answer;
    expect(await ask(path, first)).toMatchObject({ status: 200 });
  };

  it('reaches the provider from the workspace that made it, from every process, however often', async () => {
    await makeFirst();
    answer = rows.find((one) => one.path === path)?.answer ?? {};
    for (const at of [gateway, await gateway.open(), await gateway.open()]) {
      expect(await ask(path, later, gateway.key, at)).toMatchObject({ status: 200, sent: [expect.anything()] });
    }
  });

  it('reaches no provider from another workspace', async () => {
    await makeFirst();
    expect(await ask(path, later, otherKey)).toMatchObject({ status: 400, sent: [] });
  });

  it('is remembered by one write', async () => {
    await makeFirst();
    expect(writes).toEqual(['batchPut']);
  });
});

it('nothing is remembered of an answer that its provider keeps nothing of', async () => {
  answer = { ...completion, choices: [choice({ message: { role: 'assistant', content: 'Hi.' } })] };
  expect(await ask('/chat/completions', { messages: asks })).toMatchObject({ status: 200 });
  answer = { ...message, id: 'msg_8', content: [{ type: 'text', text: 'Hi.' }] };
  expect(await ask('/messages', { messages: asks, max_tokens: 9 })).toMatchObject({ status: 200 });
  expect(writes).toEqual([]);
});

describe('an answer to compare with', () => {
  const compares = (id: string | null) => ({ messages: asks, max_tokens: 9, diagnostics: { previous_message_id: id } });

  it('is one of this workspace, and adds nothing to what is reserved', async () => {
    answer = { ...message, id: 'msg_7', content: [{ type: 'text', text: 'Hi.' }] };
    expect(await ask('/messages', compares(null))).toMatchObject({ status: 200 });
    expect(await ask('/messages', compares('msg_7'))).toMatchObject({
      status: 200,
      sent: [expect.stringContaining('msg_7')],
    });
    expect(await ask('/messages', compares('msg_7'), otherKey)).toMatchObject({ status: 400, sent: [] });
    // The request asks for more output than the credit covers: the message names the amount to reserve. The context
    // alone is $0.128.
    const dear = await ask('/messages', { ...compares('msg_7'), max_tokens: 60_000_000 });
    expect(dear).toMatchObject({ status: 402, text: expect.stringContaining('120.000') });
  });

  it('is left out if the provider does not get it, and may be of such a provider', async () => {
    const translation = await ask('/messages', { ...compares('msg_nobody'), model: 'on/claude' });
    expect(translation).toMatchObject({ status: 200, leftOut: 'diagnostics' });
    answer = { ...message, id: 'msg_6', content: [{ type: 'text', text: 'Hi.' }] };
    const { id } = JSON.parse(translation.text);
    expect(await ask('/messages', compares(id))).toMatchObject({ status: 200 });
  });

  it('is a stored response, of this workspace', async () => {
    answer = { ...response, id: 'resp_7', output: [outputMessage] };
    const compared = {
      input: 'Hi.',
      max_output_tokens: 16,
      prompt_cache_options: { comparison_response_id: 'resp_7' },
    };
    expect(await ask('/responses', compared)).toMatchObject({ status: 400, sent: [] });
    expect(await ask('/responses', { input: 'Hi.', max_output_tokens: 16 })).toMatchObject({ status: 200 });
    expect(await ask('/responses', compared)).toMatchObject({ status: 200 });
    expect(await ask('/responses', compared, otherKey)).toMatchObject({ status: 400, sent: [] });
  });
});

it('thinking that brings its text refers to nothing, nor do results of tools', async () => {
  answer = { ...response, id: 'resp_5', store: false, output: [outputMessage] };
  const thought = { type: 'reasoning', id: 'rs_open', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] };
  const cited = {
    ...outputMessage,
    id: 'msg_x',
    content: [
      { type: 'output_text', text: 'Hi.', annotations: [{ type: 'file_citation', file_id: 'file-x', index: 0 }] },
    ],
  };
  const input = [...asks, thought, cited, ...asks];
  expect(await ask('/responses', { input, store: false, max_output_tokens: 16 })).toMatchObject({ status: 200 });
});
