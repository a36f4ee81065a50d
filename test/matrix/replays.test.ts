// A stored answer, for every interface at every format: it is sent again unchanged, for the call that it belongs to.
import { expect } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { byWords, type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { askRows, type Call, callUsd, idle, idleField, type MatrixCell } from './ask-rows.ts';

const keys = { plain: newKey(), input: newKey(), output: newKey() };
let guardrail: ScriptedGuardrail;

const bytesOf = async (response: Response): Promise<string> =>
  Buffer.from(await response.arrayBuffer()).toString('latin1');

/** Returns a call with a field that is dropped before the provider. */
const dropping = (call: Omit<Call, 'model'> = {}): Call => ({
  model: 'dropping',
  ...call,
  more: { ...idle, ...call.more },
});
const cached = ({ entry }: MatrixCell) => ({ cache: { ttl: 60, ...entry.cached } });

/** Returns the answer without the cost of the call. */
function comparable({ delivery, entry }: MatrixCell, bytes: string): unknown {
  if (delivery === 'stream') return entry.text?.streamed(bytes) ?? bytes;
  return bytes.startsWith('{') ? { ...JSON.parse(bytes), usage: undefined, usageMetadata: undefined } : bytes;
}

async function expectDroppedTwice({ harness, send }: MatrixCell, call: Call, header: string): Promise<void> {
  const first = await send(call);
  await bytesOf(first);
  await harness.settled();
  const again = await send(call);
  await bytesOf(again);
  expect(again.headers.get(header)).toMatch(/^(true|HIT)$/);
  expect([first, again].map(({ headers }) => headers.get('x-gw-left-out'))).toEqual([idleField, idleField]);
}

askRows('replays', {
  models: {
    dropping: () => [{ behaviour: 'echo', provider: { drops: { members: [idleField] } } }],
    stored: () => [{ behaviour: 'echo' }],
  },
  async options() {
    guardrail = await startScriptedGuardrail();
    guardrail.answer(byWords);
    const rule = { kind: 'http', url: guardrail.url, timeout_ms: 20_000 };
    return {
      guardrails: [
        { id: 'in', ...rule, on: ['input'] },
        { id: 'out', ...rule, on: ['output'] },
      ],
      moreWorkspaces: [
        {
          id: 'mixed',
          credit_usd: '100',
          keys: [
            { name: 'plain', key: keys.plain },
            { name: 'input', key: keys.input, guardrails: ['in'] },
            { name: 'output', key: keys.output, guardrails: ['out'] },
          ],
        },
      ],
    };
  },
  stop: () => guardrail.stop(),
  ask: {
    async 'a retry with its Idempotency-Key'(cell) {
      const call = dropping({ headers: { 'idempotency-key': `${cell.name}-retry` } });
      const first = await cell.send(call);
      const bytes = await bytesOf(first);
      expect({ status: first.status, bytes }).toMatchObject({ status: 200 });
      await cell.harness.settled();
      const calls = cell.received('dropping').length;
      const again = await cell.send(call);
      expect(await bytesOf(again)).toBe(bytes);
      for (const name of ['content-type', 'x-gw-cost']) {
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      }
      expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(cell.received('dropping')).toHaveLength(calls);
    },
    async 'what was dropped for a replayed answer'(cell) {
      const call = dropping({ text: 'Again', headers: { 'idempotency-key': `${cell.name}-dropped` } });
      await expectDroppedTwice(cell, call, 'idempotent-replayed');
    },
    async 'another body under an Idempotency-Key'(cell) {
      const headers = { 'idempotency-key': `${cell.name}-other` };
      await bytesOf(await cell.send({ model: 'stored', headers }));
      await cell.harness.settled();
      const calls = cell.received('stored').length;
      const refusal = await cell.send({ model: 'stored', text: 'Another', headers });
      expect(refusal.headers.get('x-should-retry')).toBe('false');
      await expectError(refusal, 409, 'idempotency_conflict');
      expect(cell.received('stored')).toHaveLength(calls);
    },
    async 'a replayed answer for other guardrails'(cell) {
      const headers = { 'idempotency-key': `${cell.name}-checked` };
      const call = { model: 'stored', text: 'A forbidden word', headers };
      await bytesOf(await cell.send({ ...call, key: keys.plain }));
      await cell.harness.settled();
      const again = await cell.send({ ...call, key: keys.output });
      expect(await bytesOf(again)).not.toContain('forbidden');
      expect([200, 409]).toContain(again.status);
    },
    async 'a cached answer'(cell) {
      const call = dropping({ more: cached(cell) });
      const first = await cell.send(call);
      const bytes = await bytesOf(first);
      expect([first.status, first.headers.get('x-gw-cache')]).toEqual([200, 'MISS']);
      expect(await cell.recordOf(first)).toMatchObject({ cost_usd: callUsd });
      const calls = cell.received('dropping').length;
      const again = await cell.send(call);
      const hit = await bytesOf(again);
      expect([again.status, again.headers.get('x-gw-cache')]).toEqual([200, 'HIT']);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(cell.received('dropping')).toHaveLength(calls);
      expect(await cell.recordOf(again)).toMatchObject({ cost_usd: '0' });
      expect(comparable(cell, hit)).toEqual(comparable(cell, bytes));
    },
    async 'what was dropped for a cached answer'(cell) {
      await expectDroppedTwice(cell, dropping({ text: 'Again', more: cached(cell) }), 'x-gw-cache');
    },
    async 'a cached answer for other guardrails'(cell) {
      const call = { model: 'stored', text: 'A forbidden word', more: cached(cell) };
      const first = await cell.send({ ...call, key: keys.plain });
      await bytesOf(first);
      expect([first.status, first.headers.get('x-gw-cache')]).toEqual([200, 'MISS']);
      await cell.harness.settled();
      const calls = cell.received('stored').length;
      const refusal = await cell.send({ ...call, key: keys.input });
      await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
      expect(cell.received('stored')).toHaveLength(calls);
      const checkedAnswer = await cell.send({ ...call, key: keys.output });
      const bytes = await bytesOf(checkedAnswer);
      expect(checkedAnswer.status).toBe(200);
      if (cell.entry.text === undefined) return;
      expect(bytes).toContain('Not this word.');
      expect(bytes).not.toContain('forbidden');
    },
  },
});
