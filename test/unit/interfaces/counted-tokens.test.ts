import { expect, it } from '#jest';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { readCountRequest } from '../../../shared/protocol/interfaces/messages/read-messages-request.ts';
import { readRequestBody } from '../../../shared/protocol/wire/index.ts';

function count(content: unknown) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));
  const body = readRequestBody(bytes, messages);
  if (body.kind === 'unreadable') throw body.error;
  const request = readCountRequest(body.json, { bodyBytes: bytes.length, dropsUnusedFields: false });
  if (!('answerItself' in request)) throw request;
  return JSON.parse(request.answerItself?.().text ?? '').input_tokens as number;
}

it.each([
  ['words', 'word '],
  ['one word', 'a'],
  ['ideographs', '漢'],
  ['digits and letters', 'a1'],
])('a count of a text of %s grows with its length', (_what, unit) => {
  const times = count(unit.repeat(1_000_000 / unit.length)) / count(unit.repeat(100_000 / unit.length));
  expect(times).toBeGreaterThan(9.5);
  expect(times).toBeLessThan(10.5);
});

it('media are counted by their pixels, however long their text is', () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAABwAAAAcCAYAAAByDd+U'.padEnd(1_000_000, 'A');
  const tokens = count([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }]);
  expect(tokens).toBeLessThan(200);
});
