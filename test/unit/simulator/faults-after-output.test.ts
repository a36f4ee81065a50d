import { describe, expect, it } from '#jest';
import { ask, chunksOf, contentOf, dataOf, finishReasonsOf, streamed, withSimulator } from './simulated.ts';

describe('streams that fail after the 200', () => {
  it.each([
    ['error-after-role', '', 'server_error'],
    ['error-after-chunks:2', 'Hello! You', 'server_error'],
    ['error-after-chunks:1:rate_limit_exceeded', 'Hello!', 'rate_limit_exceeded'],
  ])('%s says "%s", then the error %s, then only the end mark', (model, said, code) =>
    withSimulator(async (simulator) => {
      const { text, status } = await ask(simulator, model, streamed);
      expect(status).toBe(200);
      const events = dataOf(text);
      expect(JSON.parse(events.at(-2) ?? '').error.code).toBe(code);
      expect(events.at(-1)).toBe('[DONE]');
      expect(contentOf(text)).toBe(said);
      expect(finishReasonsOf(text)).toEqual([]);
    }),
  );

  it('cuts the connection after some content; the client sees a broken body', () =>
    withSimulator(async (simulator) => {
      const { text, isBroken } = await ask(simulator, 'cut:2', streamed);
      expect([isBroken, contentOf(text)]).toEqual([true, 'Hello! You']);
      expect(text).not.toContain('[DONE]');
      expect(simulator.calls[0]?.closedEarly).toBe(false);
    }));

  it.each([
    ['cut-clean', { finish: 0, ends: 0 }],
    ['no-done', { finish: 1, ends: 0 }],
    ['done-without-finish', { finish: 0, ends: 1 }],
    ['role-only', { finish: 0, ends: 1 }],
    ['empty-stream', { finish: 0, ends: 1 }],
  ])('%s ends cleanly with %j', (model, expected) =>
    withSimulator(async (simulator) => {
      const { text, isBroken } = await ask(simulator, model, streamed);
      const ends = dataOf(text).filter((data) => data === '[DONE]').length;
      expect({ isBroken, finish: finishReasonsOf(text).length, ends }).toEqual({ isBroken: false, ...expected });
      if (model === 'role-only') expect(contentOf(text)).toBe('');
      if (model === 'empty-stream') expect(text).toBe('data: [DONE]\n\n');
    }),
  );

  it('puts a line that is not JSON into the middle, or at the position asked for', () =>
    withSimulator(async (simulator) => {
      const isJson = (data: string) => {
        try {
          return JSON.parse(data) !== null;
        } catch {
          return data === '[DONE]';
        }
      };
      const events = dataOf((await ask(simulator, 'garbage', streamed)).text);
      expect(events.filter((data) => !isJson(data))).toHaveLength(1);
      expect(events.findIndex((data) => !isJson(data))).toBe(4);
      const early = dataOf((await ask(simulator, 'garbage:0', streamed)).text);
      expect(early.findIndex((data) => !isJson(data))).toBe(1);
    }));

  it('answers a stream with JSON, a JSON call with a stream, and leaves choices out', () =>
    withSimulator(async (simulator) => {
      const json = await ask(simulator, 'json-instead-of-stream', streamed);
      expect(json.headers['content-type']).toBe('application/json');
      expect(JSON.parse(json.text).object).toBe('chat.completion');
      const stream = await ask(simulator, 'stream-instead-of-json');
      expect(dataOf(stream.text).at(-1)).toBe('[DONE]');
      expect(JSON.parse((await ask(simulator, 'no-choices')).text)).not.toHaveProperty('choices');
      const chunks = chunksOf((await ask(simulator, 'no-choices', streamed)).text);
      expect(chunks.some((chunk) => 'choices' in chunk)).toBe(false);
    }));
});

describe('JSON answers with the same faults', () => {
  it('breaks off in the middle of the body, or ends it there as if it were whole', () =>
    withSimulator(async (simulator) => {
      for (const [model, isBroken] of [
        ['cut', true],
        ['cut-clean', false],
      ] as const) {
        const answer = await ask(simulator, model);
        expect([answer.status, answer.isBroken]).toEqual([200, isBroken]);
        expect(answer.text).toMatch(/^\{"id"/);
        expect(() => JSON.parse(answer.text)).toThrow(SyntaxError);
      }
    }));

  it('is not JSON, is empty, is an error, or has no finish reason', () =>
    withSimulator(async (simulator) => {
      const garbage = await ask(simulator, 'garbage');
      expect(garbage.status).toBe(200);
      expect(() => JSON.parse(garbage.text)).toThrow(SyntaxError);
      expect((await ask(simulator, 'empty-stream')).text).toBe('');
      for (const model of ['error-after-role', 'error-after-chunks:3']) {
        expect(JSON.parse((await ask(simulator, model)).text).error.code).toBe('server_error');
      }
      const [choice] = JSON.parse((await ask(simulator, 'done-without-finish')).text).choices;
      expect([choice.finish_reason, choice.message.content.length > 0]).toEqual([null, true]);
      expect(JSON.parse((await ask(simulator, 'role-only')).text).choices[0].message.content).toBe('');
      expect(JSON.parse((await ask(simulator, 'no-done')).text).choices[0].finish_reason).toBe('stop');
    }));
});
