// Memory of a long request: no more than the next candidate needs, and nothing once there can be no next candidate.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { nextTurn, systemClock } from '../../shared/foundation/time/index.ts';
import { createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import {
  chunkEvent as chunk,
  completionOf,
  type ScriptedProvider,
  sendJson,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

const characters = 1_000_000;
const long = 'word '.repeat(characters / 5);
const usage = { input_tokens: 10, output_tokens: 5 };
const message = JSON.stringify({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Yes.' }], usage },
});

describe('a long request', () => {
  const budget = createMemoryBudget(systemClock);
  let provider: ScriptedProvider;
  let gateway: Harness;
  /** Requests at the provider that wait for an answer. */
  let answers: { readonly outgoing: ServerResponse; readonly body: string }[] = [];

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing, call) => {
      answers.push({ outgoing, body: provider.bodies[call] ?? '' });
    });
    const entries = (...providers: readonly string[]) => providers.map((id) => ({ provider: id, upstream: 'm' }));
    gateway = await startHarness({
      models: {
        'acme/own': entries('chat'),
        'acme/other': entries('other'),
        'acme/two': [
          { provider: 'other', upstream: 'm' },
          { provider: 'chat', upstream: 'm', more: { input_price_per_million: '9' } },
        ],
      },
      providers: { chat: { base_url: provider.url }, other: { base_url: provider.url, apis: ['messages'] } },
      replace: () => ({ memory: budget }),
    });
  });
  afterEach(async () => {
    await gateway.settled();
    expect(budget.bytesInUse()).toBe(0);
    answers = [];
  });
  afterAll(async () => {
    await expectBalancedBooks(gateway);
    await gateway.stop();
    await provider.stop();
  });

  const ask = (model: string, more: object = {}) =>
    gateway.post({ model, messages: [{ role: 'user', content: long }], max_tokens: 16, ...more });
  async function arrived(count: number) {
    while (answers.length < count) await nextTurn();
    const last = answers[count - 1];
    if (last === undefined) throw new Error('no call has arrived');
    return last;
  }
  /**
   * Resolves when the bytes in use are at most this number of request texts. Fails by the test's time limit otherwise.
   */
  async function keptFalls(texts: number) {
    while (budget.bytesInUse() > texts * characters) await nextTurn();
  }

  it('is kept once while its provider works, and what was sent is not', async () => {
    const answer = ask('acme/own');
    const { outgoing } = await arrived(1);
    await keptFalls(1.1);
    expect(budget.bytesInUse()).toBeGreaterThan(characters);
    sendJson(outgoing, completionOf({ content: 'Yes.' }));
    expect((await answer).status).toBe(200);
  });

  it('that is translated is kept as its text, and as what its package has made', async () => {
    const answer = ask('acme/other');
    const { outgoing } = await arrived(1);
    await keptFalls(4.1);
    expect(budget.bytesInUse()).toBeGreaterThan(4 * characters);
    sendJson(outgoing, message);
    expect((await answer).status).toBe(200);
  });

  it('is let go with the first output of a stream: no other candidate is called any more', async () => {
    const answer = ask('acme/own', { stream: true });
    const { outgoing } = await arrived(1);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Yes' }));
    const response = await answer;
    await keptFalls(0.1);
    outgoing.end(`${chunk({ content: '.' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
    expect(await response.text()).toContain('[DONE]');
  });

  it('that was let go tells its client how its stream broke', async () => {
    const answer = ask('acme/own', { stream: true });
    const { outgoing } = await arrived(1);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Yes' }));
    const response = await answer;
    await keptFalls(0.1);
    outgoing.end(`data: {"error":{"message":"we are down","code":500}}\n\n`);
    expect(await response.text()).toContain('"error"');
  });

  it('with an image reaches its provider whole, and is priced by it', async () => {
    const data = 'A'.repeat(200_000);
    const url = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ${data}`;
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url } },
    ];
    for (const model of ['acme/own', 'acme/other']) {
      answers = [];
      const answer = gateway.post({ model, messages: [{ role: 'user', content }], max_tokens: 16 });
      const { outgoing, body } = await arrived(1);
      expect(body).toContain(data);
      sendJson(outgoing, model === 'acme/own' ? completionOf({ content: 'Yes.' }) : message);
      expect((await answer).status).toBe(200);
    }
  });

  it('is written anew for a candidate of another format, field for field', async () => {
    const answer = ask('acme/two', { my_member: [1, 2] });
    const first = await arrived(1);
    await keptFalls(4.1);
    first.outgoing.writeHead(500).end();
    const second = await arrived(2);
    expect(JSON.parse(second.body)).toMatchObject({
      messages: [{ role: 'user', content: long }],
      my_member: [1, 2],
    });
    await keptFalls(1.1);
    sendJson(second.outgoing, completionOf({ content: 'Yes.' }));
    expect((await answer).status).toBe(200);
  });

  it('whose answer is one long event keeps of that what has come of it, until its client has it', async () => {
    const answer = gateway.post({ model: 'acme/own', messages: [{ role: 'user', content: 'Hi' }], stream: true });
    const { outgoing } = await arrived(1);
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'Yes' }));
    const reader = (await answer).body?.getReader();
    await reader?.read();
    const event = chunk({ content: long });
    outgoing.write(event.slice(0, -10));
    while (budget.bytesInUse() < 2 * characters) await nextTurn();
    outgoing.write(event.slice(-10));
    outgoing.write(chunk({ content: '.' }));
    let read = 0;
    while (read < characters) read += (await reader?.read())?.value?.length ?? 0;
    await keptFalls(0.1);
    outgoing.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    while ((await reader?.read())?.done === false);
  });

  it('that is refused is quoted in the words of its provider', async () => {
    const answer = ask('acme/own');
    const { outgoing } = await arrived(1);
    await keptFalls(1.1);
    outgoing.writeHead(400, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ error: { message: 'too many of word word word', param: 'messages' } }));
    const refusal = await answer;
    expect(refusal.status).toBe(400);
    expect(((await refusal.json()) as { message: string }).message).toContain('too many of word');
  });

  it('whose answer is long keeps of that what its client has yet to read', async () => {
    const answer = gateway.post({ model: 'acme/own', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 });
    const { outgoing } = await arrived(1);
    sendJson(outgoing, completionOf({ content: long.repeat(6) }));
    const response = await answer;
    await keptFalls(12.1);
    expect(budget.bytesInUse()).toBeGreaterThan(12 * characters);
    expect(await response.text()).toContain(long);
  });
});
