import { expect, it } from '#jest';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { readCountRequest } from '../../../shared/protocol/interfaces/messages/read-messages-request.ts';
import { readRequestBody } from '../../../shared/protocol/wire/index.ts';

async function count(content: unknown) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));
  const body = readRequestBody(bytes, messages);
  if (body.kind === 'unreadable') throw body.error;
  const request = readCountRequest(body.json, { bodyBytes: bytes.length, dropsIdleMembers: false });
  if (!('answerItself' in request)) throw request;
  let steps = 0;
  const answer = await request.answerItself?.(async () => {
    steps += 1;
  });
  return { steps, tokens: JSON.parse(answer?.text ?? '').input_tokens as number };
}

it.each([
  ['words', 'word '],
  ['one word', 'a'],
  ['ideographs', '漢'],
  ['digits and letters', 'a1'],
])('a count of a long text of %s is made in steps, and grows with it', async (_what, unit) => {
  const short = await count(unit.repeat(100_000 / unit.length));
  const long = await count(unit.repeat(1_000_000 / unit.length));
  expect([short.steps <= 2, long.steps > 7]).toEqual([true, true]);
  expect(long.tokens / short.tokens).toBeGreaterThan(9.5);
  expect(long.tokens / short.tokens).toBeLessThan(10.5);
});

it('media are counted by their pixels, however long their text is', async () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAABwAAAAcCAYAAAByDd+U'.padEnd(1_000_000, 'A');
  const { tokens } = await count([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }]);
  expect(tokens).toBeLessThan(200);
});
