import { describe, expect, it, jest } from '#jest';
import { matchInput, type RevisionContent } from '../../../shared/configuration/stored-functions/index.ts';
import { message, promptOf, refusalOf } from '../../support/function-revisions.ts';

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
  it('takes a fixed message in its other spellings: with members of null, and as a part', async () => {
    const nullMember = { ...system, name: null };
    const asPart = { ...system, content: [{ type: 'text', text: system.content }] };
    for (const same of [nullMember, asPart]) {
      expect(await match(label, [same, ticketMessage])).toMatchObject({ input: ticket });
    }
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
    // The first schema of a process loads the validator.
    await match(label, [user(JSON.stringify({ ticket: 'x' }))]);
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

  it('may have blanks around its object', async () => {
    expect(await match(label, [user(` \n${JSON.stringify(ticket)}\n`)])).toMatchObject({ input: ticket });
  });
});

describe('the members of a call', () => {
  it('may be null, which is the same as absent', async () => {
    const nulls = Object.fromEntries(
      ['stream', 'tools', 'temperature', 'usage', 'anything'].map((name) => [name, null]),
    );
    expect(await match(label, [ticketMessage], { ...nulls, user: null })).toEqual({ input: ticket, passed: {} });
  });

  it('may be the user that the function fixes, and no other', async () => {
    const fixed = promptOf({ options: { user: 'fixed' } });
    await refused(fixed, [user('x')], { user: 'mine' });
    expect(await match(fixed, [user('x')], { user: 'fixed' })).toMatchObject({ passed: { user: 'fixed' } });
  });

  it('that are refused are named in a list that is cut, as are long names', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${'n'.repeat(500)}`, 1]));
    expect((await refused(label, [ticketMessage], many)).length).toBeLessThan(600);
  });
});
