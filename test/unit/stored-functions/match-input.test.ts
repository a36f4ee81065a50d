import { describe, expect, it, jest } from '#jest';
import { matchInput, type RevisionContent } from '../../../shared/configuration/stored-functions/index.ts';
import { message, promptOf, refusalOf, stepOf, workflowOf } from '../../support/function-revisions.ts';

const model = 'gw/function/f';
const user = (content: unknown) => ({ role: 'user', content });
const system = { role: 'system', content: 'You label support tickets.' };

const schema = { type: 'object', required: ['ticket'], properties: { ticket: { type: 'string' } } };
const label = promptOf({
  messages: [message('system', system.content), message('user', 'Label: {{input.ticket}}')],
  options: { temperature: 0, max_tokens: 64 },
  response_format: { type: 'json_object' },
  input: { type: 'object', schema },
});
const ticket = { ticket: 'My printer burns.' };
const ticketMessage = user(JSON.stringify(ticket));

const match = (content: RevisionContent, messages: unknown, more: object = {}) =>
  matchInput(content, { model, messages, ...more });
const refused = (content: RevisionContent, messages: unknown, more: object = {}) =>
  refusalOf('invalid_function_request', () => match(content, messages, more));

describe('a call of a prompt', () => {
  it('holds the input alone', async () => {
    expect(await match(label, [ticketMessage])).toEqual({ input: ticket, passed: {} });
  });

  it('or the fixed messages verbatim and then the input', async () => {
    expect(await match(label, [system, ticketMessage])).toEqual({ input: ticket, passed: {} });
    const nullMember = { ...system, name: null };
    const asPart = { ...system, content: [{ type: 'text', text: system.content }] };
    for (const same of [nullMember, asPart]) {
      expect(await match(label, [same, ticketMessage])).toMatchObject({ input: ticket });
    }
  });

  it.each<[title: string, messages: unknown[]]>([
    ['a changed fixed message', [{ ...system, content: 'You label everything.' }, ticketMessage]],
    ['a fixed message in another role', [{ ...system, role: 'developer' }, ticketMessage]],
    ['a fixed message with a name', [{ ...system, name: 'x' }, ticketMessage]],
    ['a fixed message with one blank more', [{ ...system, content: `${system.content} ` }, ticketMessage]],
    ['the fixed message twice', [system, system, ticketMessage]],
    ['a message after the input', [ticketMessage, { role: 'assistant', content: 'x' }]],
    ['the fixed message after the input', [ticketMessage, system]],
    ['the fixed message without the input', [system]],
    ['no message', []],
  ])('with %s is refused', async (_title, messages) => {
    expect(await refused(label, messages)).not.toContain('printer');
  });

  const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));

  it('is compared with a fixed message no further than that goes', async () => {
    const stringify = jest.spyOn(JSON, 'stringify');
    for (const sent of [
      { ...system, content: names },
      { ...system, ...names },
    ]) {
      await refused(label, [sent, ticketMessage]);
    }
    const calls = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(calls).toBeLessThan(10);
  });

  it('with a long input lets others have the event loop before it is read, and before it is checked', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const ofLength = (length: number) => user(JSON.stringify({ ticket: 'x'.repeat(length) }));
    await match(label, [ofLength(1_000)]);
    expect(turns).toBe(0);
    await match(label, [ofLength(100_000)]);
    clearImmediate(next);
    expect(turns).toBe(2);
  });

  it('whose fixed message was changed is told which one, and neither its text nor what it sent', async () => {
    const text = await refused(label, [{ ...system, content: 'SECRET OF THE CLIENT' }, ticketMessage]);
    expect(text).toContain('messages[0]');
    expect(text).not.toContain(system.content);
    expect(text).not.toContain('SECRET');
  });

  it('has as fixed messages those without a reference, wherever they stand', async () => {
    const content = promptOf({
      messages: [
        message('system', 'In {{input.language}}.'),
        message('user', 'An example'),
        message('assistant', 'Its answer'),
        message('user', [{ type: 'text', text: '{{input.text}}' }]),
        message('system', 'Be brief.'),
      ],
      input: { type: 'object', schema: {} },
    });
    const input = user('{"language":"English","text":"x"}');
    const fixed = [user('An example'), { role: 'assistant', content: 'Its answer' }];
    const brief = { role: 'system', content: 'Be brief.' };
    expect(await match(content, [...fixed, brief, input])).toMatchObject({ input: { language: 'English', text: 'x' } });
    await refused(content, [brief, ...fixed, input]);
    await refused(content, [...fixed, input]);
  });

  it('with free text takes any one text', async () => {
    for (const text of ['Hello', '', '{"a":1}', '{{input}}']) {
      expect(await match(promptOf(), [user(text)])).toEqual({ input: text, passed: {} });
    }
    expect(await match(promptOf(), [user([{ type: 'text', text: 'part' }])])).toMatchObject({ input: 'part' });
  });

  it.each<[title: string, input: unknown]>([
    ['another role', { role: 'assistant', content: 'x' }],
    ['a name', { ...user('x'), name: 'n' }],
    ['no content', { role: 'user' }],
    ['an image', user([{ type: 'image_url', image_url: { url: 'x' } }])],
    [
      'two texts',
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ],
    ['tool calls', { ...user('x'), tool_calls: [] }],
    ['nothing', null],
  ])('whose input message has %s is refused', async (_title, input) => {
    await refused(promptOf(), [input]);
  });
});

describe.each<[kind: string, content: RevisionContent]>([
  ['a prompt', label],
  ['a workflow', workflowOf([stepOf('s', '{{input.ticket}}')], { step: 's' }, { input: { type: 'object', schema } })],
])('the object that %s takes', (_kind, content) => {
  it.each([
    ['no JSON', 'My printer burns.'],
    ['an array', '[{"ticket":"x"}]'],
    ['a text', '"ticket"'],
    ['null', 'null'],
    ['two objects', '{"ticket":"x"}{"ticket":"y"}'],
    ['words around it', 'Here: {"ticket":"x"}'],
    ['a code fence', '```json\n{"ticket":"x"}\n```'],
    ['nothing', ''],
    ['a large integer alone', '12345678901234567890'],
    ['endless brackets', '{"ticket":'.repeat(5_000)],
  ])('is one JSON object, not %s', async (_title, text) => {
    expect(await refused(content, [user(text)])).toContain('exactly one JSON object');
  });

  it('may have blanks around it', async () => {
    expect(await match(content, [user(` \n${JSON.stringify(ticket)}\n`)])).toMatchObject({ input: ticket });
  });

  it('satisfies the schema, and the refusal says where it does not', async () => {
    expect(await refused(content, [user('{"ticket":7}')])).toContain('/ticket');
    await refused(content, [user('{}')]);
  });
});

describe('a call of a workflow', () => {
  const content = workflowOf([stepOf('s', '{{input.a.b}}')], 'Result: {{input.c}}');

  it('holds one user message and no other', async () => {
    expect(await match(content, [user('{"a":{"b":1},"c":2}')])).toEqual({
      input: { a: { b: 1 }, c: 2 },
      passed: {},
    });
    await refused(content, [system, user('{"a":{"b":1},"c":2}')]);
    await refused(content, [user('{"a":{"b":1}'), user(',"c":2}')]);
  });

  it('whose input lacks what any template needs is refused before a step could run', async () => {
    expect(await refused(content, [user('{"a":{},"c":2}')])).toContain('{{input.a.b}}');
    expect(await refused(content, [user('{"a":{"b":1}}')])).toContain('{{input.c}}');
  });
});

describe('the members of a call', () => {
  const values: Record<string, unknown> = {
    stream: true,
    tools: [],
    tool_choice: 'none',
    temperature: 0,
    max_tokens: 64,
    max_completion_tokens: 64,
    top_p: 1,
    stop: 'x',
    n: 1,
    seed: 1,
    response_format: { type: 'json_object' },
    stream_options: {},
    provider: {},
    cache: {},
    preset: 'terse',
    reasoning: {},
    usage: {},
    fallback_models: [],
    anything: 'else',
  };

  it.each(Object.entries(values))('may not include %s, not even with the value that is fixed', async (name, value) => {
    expect(await refused(label, [ticketMessage], { [name]: value })).toContain(name);
  });

  it('may not include stream: false either, because stream is not for the client to send', async () => {
    expect(await refused(label, [ticketMessage], { stream: false })).toContain('stream');
  });

  it('may be null, which is the same as absent', async () => {
    const nulls = Object.fromEntries(Object.keys(values).map((name) => [name, null]));
    expect(await match(label, [ticketMessage], { ...nulls, user: null })).toEqual({ input: ticket, passed: {} });
  });

  it('user and metadata are taken and handed on', async () => {
    const passed = { user: 'u-1', metadata: { a: '1' } };
    expect(await match(label, [ticketMessage], passed)).toEqual({ input: ticket, passed });
  });

  it('user and metadata must be of their type, and cannot replace what the function fixes', async () => {
    await refused(label, [ticketMessage], { user: 7 });
    await refused(label, [ticketMessage], { metadata: 'x' });
    const fixed = promptOf({ options: { user: 'fixed' } });
    await refused(fixed, [user('x')], { user: 'mine' });
    expect(await match(fixed, [user('x')], { user: 'fixed' })).toMatchObject({ passed: { user: 'fixed' } });
  });

  it('that are refused are named with what the function fixes; a long list is cut, and so are long names', async () => {
    expect(await refused(label, [ticketMessage], { temperature: 'SECRET' })).toMatch(/temperature to 0/);
    expect(await refused(label, [ticketMessage], { temperature: 'SECRET' })).not.toContain('SECRET');
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${'n'.repeat(500)}`, 1]));
    expect((await refused(label, [ticketMessage], many)).length).toBeLessThan(600);
  });
});
