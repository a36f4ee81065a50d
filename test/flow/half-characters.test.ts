// Half of a surrogate pair in a request: a translated provider gets a replacement character, a relayed provider gets
// what the client sent.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

const formats = ['messages', 'responses', 'converse', 'generate-content', 'chat-completions'] as const;
let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: Object.fromEntries(
      formats.map((format) => [`on/${format}`, [{ provider: format, upstream: 'plain/echo' }]]),
    ),
    providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

const half = 'half \ud83d, whole \ud83d\ude00, its escape \\ud83d, other half \ude00.';
const userMessages = (content: string) => [{ role: 'user', content }];
const clients = [
  ['chat-completions', '/chat/completions', { messages: userMessages(half) }],
  ['messages', '/messages', { messages: userMessages(half), max_tokens: 50 }],
  ['responses', '/responses', { input: userMessages(half), store: false }],
] as const;
const sentText = () => gateway.simulator.calls.map(({ bodyText }) => bodyText).join('');

describe.each(clients)('a client of %s', (clientInterface, path, body) => {
  it.each(formats.filter((format) => format !== clientInterface))(
    'reaches %s in characters that are whole',
    async (format) => {
      const answer = await gateway.postTo(path, { model: `on/${format}`, ...body });
      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
      const strings = sentText().match(/"half (?:[^"\\]|\\.)*"/g) ?? [];
      expect(strings.map((one) => JSON.parse(one))).toEqual([
        'half \ufffd, whole \ud83d\ude00, its escape \\ud83d, other half \ufffd.',
      ]);
    },
  );

  it('reaches a provider of its own interface as it is', async () => {
    expect((await gateway.postTo(path, { model: `on/${clientInterface}`, ...body })).status).toBe(200);
    expect(sentText()).toContain(JSON.stringify(half).slice(1, -1));
  });
});
