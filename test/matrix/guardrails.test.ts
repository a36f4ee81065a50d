// Guardrails on requests and answers, for every interface at every format.
import { expect } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import type { Json } from '../support/provider-answers.ts';
import { byWords, type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import { askRows, callUsd, type MatrixCell } from './ask-rows.ts';
import { textOf } from './columns.ts';

const keys = { input: newKey(), output: newKey(), free: newKey(), late: newKey(), narrow: newKey() };
let guardrail: ScriptedGuardrail;

/** This word is near the end of the simulator's answers. */
const lateWord = 'priced';

/** Returns schemas of parameters, each with the text in another place. */
const schemasWith = (text: string): readonly Json[] => [
  { properties: { usage: { type: 'string', description: text } } },
  { properties: { q: { type: 'string', format: text } } },
  { properties: { q: { type: 'string', $id: text } } },
  { properties: { [text]: { type: 'string' } } },
];

/** Returns the finish reason of an answer; undefined if its interface has none. */
function endOf(cell: MatrixCell, body: string): unknown {
  const { end } = textOf(cell);
  return cell.delivery === 'stream' ? end?.streamed(body) : end?.whole(JSON.parse(body));
}

const contentOf = async (cell: MatrixCell, response: Response): Promise<string> => {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const { whole, streamed } = textOf(cell);
  return cell.delivery === 'stream' ? streamed(text) : whole(JSON.parse(text));
};

askRows('guardrails', {
  models: {
    echo: () => [{ behaviour: 'echo' }],
    cited: ({ entry }) => (entry.text === undefined ? [] : [{ behaviour: 'echo', gate: 'cited' }]),
  },
  async options() {
    guardrail = await startScriptedGuardrail();
    guardrail.answer((question) => {
      if (question.id !== 'late') return byWords(question);
      const isBlocked = question.texts.some((text) => text.includes(lateWord));
      return isBlocked ? { action: 'block', message: 'Not this word.' } : { action: 'pass' };
    });
    const rule = { kind: 'http', url: guardrail.url, timeout_ms: 20_000 };
    return {
      guardrails: [
        { id: 'in', ...rule, on: ['input'] },
        { id: 'out', ...rule, on: ['output'] },
        { id: 'late', ...rule, on: ['output'], window_characters: 20 },
        { id: 'narrow', ...rule, on: ['output'], window_characters: 20 },
      ],
      moreWorkspaces: [
        { id: 'input', credit_usd: '100', guardrails: ['in'], keys: [{ name: 'k', key: keys.input }] },
        {
          id: 'output',
          credit_usd: '100',
          keys: [
            { name: 'checked', key: keys.output, guardrails: ['out'] },
            { name: 'free', key: keys.free },
            { name: 'narrow', key: keys.narrow, guardrails: ['narrow'] },
          ],
        },
        { id: 'late', credit_usd: '100', guardrails: ['late'], keys: [{ name: 'k', key: keys.late }] },
      ],
    };
  },
  stop: () => guardrail.stop(),
  ask: {
    async 'a guardrail blocks the input'(cell) {
      const before = cell.received('echo').length;
      const response = await cell.send({ model: 'echo', text: 'A forbidden word', key: keys.input });
      const { message } = await expectError(response, 400, 'invalid_request', { reason: 'content_policy_violation' });
      expect(message).toContain('Not this word.');
      expect(cell.received('echo')).toHaveLength(before);
    },
    async 'a guardrail masks the input'(cell) {
      const before = cell.received('echo').length;
      const response = await cell.send({ model: 'echo', text: 'Ask ann@example.com', key: keys.input });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      const [call, ...others] = cell.received('echo').slice(before);
      expect(others).toEqual([]);
      expect(call?.bodyText).toContain('Ask [mail]');
      expect(call?.bodyText).not.toContain('ann@example.com');
    },
    async 'a guardrail blocks the answer'(cell) {
      const before = cell.received('echo').length;
      const response = await cell.send({ model: 'echo', text: 'A forbidden word', key: keys.output });
      const body = await response.clone().text();
      expect(await contentOf(cell, response)).toBe('Not this word.');
      expect(endOf(cell, body)).toBe(textOf(cell).end?.blocked);
      for (const text of ['forbidden', lateWord]) expect(body).not.toContain(text);
      expect(cell.received('echo').length - before).toBe(1);
      expect(await cell.recordOf(response, keys.output)).toMatchObject({ cost_usd: callUsd });
    },
    async 'a guardrail masks the answer'(cell) {
      const response = await cell.send({ model: 'echo', text: 'Ask ann@example.com', key: keys.narrow });
      const body = await response.clone().text();
      const content = await contentOf(cell, response);
      expect(content).toContain('Ask [mail]');
      expect(body).not.toContain('example.com');
    },
    async 'a guardrail blocks the middle of the answer'(cell) {
      const response = await cell.send({ model: 'echo', key: keys.late });
      const body = await response.clone().text();
      const content = await contentOf(cell, response);
      expect(content).toMatch(/Not this word\.$/);
      expect(content.length).toBeGreaterThan('Not this word.'.length);
      expect(endOf(cell, body)).toBe(textOf(cell).end?.blocked);
      expect(body).not.toContain(lateWord);
    },
    async 'a guardrail blocks what a provider adds to the answer'(cell) {
      const response = await cell.send({ model: 'cited', key: keys.output });
      const body = await response.text();
      expect({ status: response.status, body }).toMatchObject({ status: 200 });
      expect(body).not.toContain('forbidden');
      expect(cell.received('cited')).toHaveLength(1);
    },
    async 'a guardrail blocks an answer that the provider keeps'(cell) {
      const request = { model: 'echo', text: 'A forbidden word', more: cell.entry.storeFields ?? {} };
      for (const key of [keys.output, keys.free]) {
        const body = await (await cell.send({ ...request, key })).text();
        const id = /"id":\s*"(resp_[^"]+)"/.exec(body)?.[1];
        await cell.harness.settled();
        for (const below of ['', '?stream=true', '/input_items']) {
          const headers = { authorization: `Bearer ${keys.output}` };
          const read = await cell.harness.get(`${cell.entry.path}/${id}${below}`, headers);
          const text = await read.text();
          expect([below, text]).toEqual([below, expect.not.stringContaining('forbidden')]);
          expect(text).not.toContain(lateWord);
        }
      }
    },
    async 'a guardrail blocks a text in a schema'(cell) {
      const before = cell.received('echo').length;
      for (const schema of schemasWith('A forbidden word')) {
        const more = cell.entry.tool?.({ type: 'object', ...schema }) ?? {};
        const refusal = await cell.send({ model: 'echo', key: keys.input, more });
        await expectError(refusal, 400, 'invalid_request', { reason: 'content_policy_violation' });
      }
      expect(cell.received('echo')).toHaveLength(before);
    },
    async 'a guardrail masks an answer of a schema'(cell) {
      const schema = { type: 'object', properties: { to: { enum: ['ann@example.com'] } }, required: ['to'] };
      const more = cell.entry.schema?.({ ...schema, additionalProperties: false }) ?? {};
      // On this base URL a stream may have a schema.
      const response = await cell.send({ base: '/openai/v1', model: 'echo', key: keys.output, more });
      expect(JSON.parse(await contentOf(cell, response))).toEqual({ to: '[mail]' });
    },
  },
});
