import { describe, expect, it } from '#jest';
import { unknownMembersTexts } from '../../../infra/local/simulator/index.ts';
import { ask, chunksOf, contentOf, dataOf, finishReasonsOf, streamed, withSimulator } from './simulated.ts';

const utf8 = 'Grüße aus Zürich, 你好 世界 🌍 👩‍🚀 — fertig.';

describe('framing', () => {
  it('cuts letters of several bytes: every write of split-utf8 is one byte', () =>
    withSimulator(async (simulator) => {
      const stream = await ask(simulator, 'split-utf8', streamed);
      expect(stream.pieces.every((piece) => piece.length === 1)).toBe(true);
      expect(contentOf(stream.text)).toBe(utf8);
      expect(JSON.parse((await ask(simulator, 'byte-split:5')).text).choices[0].message.content).toBe(utf8);
    }));

  it('cuts the body once, at exactly the byte asked for', () =>
    withSimulator(async (simulator) => {
      for (const position of [1, 5, 250, 251, 252]) {
        const { pieces, text } = await ask(simulator, `split-at:${position}`, streamed);
        const ends = new Set<number>();
        pieces.reduce((sent, piece) => {
          ends.add(sent + piece.length);
          return sent + piece.length;
        }, 0);
        expect(ends.has(position)).toBe(true);
        expect(contentOf(text)).toBe(utf8);
      }
    }));

  it('ends lines with CRLF and leaves no space after the colon', () =>
    withSimulator(async (simulator) => {
      const { text } = await ask(simulator, 'crlf', streamed);
      expect(text).toMatch(/^data:\{"id"/);
      expect(text.endsWith('\r\n\r\ndata:[DONE]\r\n\r\n')).toBe(true);
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect((await ask(simulator, 'cr', streamed)).text.endsWith('\r\rdata: [DONE]\r\r')).toBe(true);
    }));

  it('puts comments, other fields and several data lines where a parser must cope with them', () =>
    withSimulator(async (simulator) => {
      const comments = (await ask(simulator, 'comments', streamed)).text;
      expect(comments).toMatch(/^: still here\n: data: \{"not":"data"\}\n:\n\ndata: \{"id"/);
      expect(finishReasonsOf(comments)).toEqual(['stop']);
      expect((await ask(simulator, 'sse-fields', streamed)).text).toMatch(/^event: message\nid: 7\nretry: 3000\n/);
      const [first] = (await ask(simulator, 'multi-line-data', streamed)).text.split('\n\n');
      const lines = first?.split('\n') ?? [];
      expect(lines.length).toBeGreaterThan(5);
      expect(JSON.parse(lines.map((line) => line.slice('data: '.length)).join('\n')).object).toBe(
        'chat.completion.chunk',
      );
    }));

  it('sends unknown members, spacing and numbers exactly as its exported texts say', () =>
    withSimulator(async (simulator) => {
      expect((await ask(simulator, 'unknown-members')).text).toBe(unknownMembersTexts.json);
      const { text } = await ask(simulator, 'unknown-members', streamed);
      const { chunks, usageChunk } = unknownMembersTexts;
      expect(dataOf(text)).toEqual([...chunks, usageChunk, '[DONE]']);
      expect(dataOf((await ask(simulator, 'unknown-members', { stream: true })).text)).toEqual([...chunks, '[DONE]']);
      for (const json of [unknownMembersTexts.json, ...chunks, usageChunk]) {
        expect(JSON.stringify(JSON.parse(json))).not.toBe(json);
      }
    }));

  it('sends content of the size asked for, in many chunks or in one', () =>
    withSimulator(async (simulator) => {
      const many = (await ask(simulator, 'huge:100000', streamed)).text;
      expect(contentOf(many)).toHaveLength(100_000);
      const one = chunksOf((await ask(simulator, 'huge-event:100000', streamed)).text);
      expect(one.filter((chunk) => chunk.choices[0]?.delta.content?.length === 100_000)).toHaveLength(1);
      expect(JSON.parse((await ask(simulator, 'huge:100000')).text).choices[0].message.content).toHaveLength(100_000);
    }));
});
