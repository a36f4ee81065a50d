import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import {
  type Expectation,
  formatReference,
  judgeCase,
  matchInput,
  parseTemplate,
  type RevisionContent,
} from '../../../shared/configuration/stored-functions/index.ts';
import {
  noSteps,
  type RenderScope,
  renderMessages,
  renderTemplate,
} from '../../../shared/configuration/stored-functions/render.ts';
import { parseJson } from '../../../shared/protocol/wire/index.ts';
import { message, promptOf, refusalOf } from '../../support/function-revisions.ts';

const renderedMaxBytes = 4 * 1_024 * 1_024;

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
const matchRefusal = (content: RevisionContent, messages: unknown, more: object = {}) =>
  refusalOf('invalid_function_request', () => match(content, messages, more));

describe('a call of a prompt', () => {
  it('takes a fixed message in its other spellings: with fields of null, and as a part', async () => {
    const nullMember = { ...system, name: null };
    const asPart = { ...system, content: [{ type: 'text', text: system.content }] };
    for (const same of [nullMember, asPart]) {
      expect(await match(label, [same, ticketMessage])).toMatchObject({ input: ticket });
    }
  });

  const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1]));

  it('is compared with a fixed message no further than that goes', async () => {
    const stringify = jest.spyOn(JSON, 'stringify');
    for (const message of [
      { ...system, content: names },
      { ...system, ...names },
    ]) {
      await matchRefusal(label, [message, ticketMessage]);
    }
    const calls = stringify.mock.calls.length;
    stringify.mockRestore();
    expect(calls).toBeLessThan(10);
  });

  it.each([
    [1_000, 0, 0],
    [100_000, 1, 2],
  ])(
    'with an input of %i characters is read in turn %i of the event loop, and checked in turn %i',
    async (length, ...inTurns) => {
      // The first schema of a process loads the validator.
      await match(label, [user(JSON.stringify({ ticket: 'x' }))]);
      let turns = 0;
      const count = () => {
        turns += 1;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      const { parse } = JSON;
      const steps = new Map<string, number>();
      const note = (step: string) => steps.has(step) || steps.set(step, turns);
      const parsing = jest.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
        note('read');
        return parse(text, reviver);
      });
      // The read of this field shows when the check begins. The check may end in a thread, later by as much as the
      // machine is busy.
      const input = {
        type: 'object' as const,
        schema: {
          ...schema,
          get required() {
            note('checked');
            return schema.required;
          },
        },
      };
      await match({ ...label, input }, [user(JSON.stringify({ ticket: 'x'.repeat(length) }))]);
      clearImmediate(next);
      parsing.mockRestore();
      expect([steps.get('read'), steps.get('checked')]).toEqual(inTurns);
    },
  );

  it('has as fixed messages those without a reference, at every place', async () => {
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
    await matchRefusal(content, [brief, ...fixed, input]);
    await matchRefusal(content, [...fixed, input]);
  });

  it('may have blanks around its object', async () => {
    expect(await match(label, [user(` \n${JSON.stringify(ticket)}\n`)])).toMatchObject({ input: ticket });
  });
});

describe('the fields of a call', () => {
  it('may be null, which is the same as absent', async () => {
    const nulls = Object.fromEntries(
      ['stream', 'tools', 'temperature', 'usage', 'anything'].map((name) => [name, null]),
    );
    expect(await match(label, [ticketMessage], { ...nulls, user: null })).toEqual({ input: ticket, passed: {} });
  });

  it('may be the user that the function fixes, and no other', async () => {
    const fixed = promptOf({ options: { user: 'fixed' } });
    await matchRefusal(fixed, [user('x')], { user: 'mine' });
    expect(await match(fixed, [user('x')], { user: 'fixed' })).toMatchObject({ passed: { user: 'fixed' } });
  });

  it('that are refused are named in a list that is cut, as are long names', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${'n'.repeat(500)}`, 1]));
    expect((await matchRefusal(label, [ticketMessage], many)).length).toBeLessThan(600);
  });
});

describe('templates', () => {
  describe('templates', () => {
    it.each(['{{input}}', '{{input.a.b}}', '{{steps.s.output}}', '{{steps.s.output.a}}'])(
      'are written as they are read: %s',
      (text) => {
        const template = parseTemplate(text);
        const parts = template.ok ? template.parts : [];
        expect(parts.map((part) => (typeof part === 'string' ? part : formatReference(part)))).toEqual([text]);
      },
    );
  });

  const withInput = (input: unknown): RenderScope => ({ input, steps: noSteps });
  const withStep = (text: string, json?: unknown): RenderScope => ({
    input: {},
    steps: new Map([['s', { text, json }]]),
  });

  describe('a template', () => {
    it.each<[template: string, input: unknown, text: string]>([
      ['<{{input}}>', 'plain "text"\n', '<plain "text"\n>'],
      ['{{input}}', { b: 1, a: ['x', null] }, '{"b":1,"a":["x",null]}'],
      ['{{ input.a.b }}', { a: { b: 'deep' } }, 'deep'],
      ['{{input.a}}', { a: { b: [1, 2] } }, '{"b":[1,2]}'],
      ['{{input.a.1}}', { a: ['x', 'y'] }, 'y'],
      ['{{input.a}} {{input.b}} {{input.c}}', { a: 0, b: false, c: null }, '0 false null'],
      ['{{input.a}}', { a: '' }, ''],
    ])('%j is filled with %j', (template, input, text) => {
      expect(renderTemplate(template, withInput(input))).toBe(text);
    });

    it('keeps integers that are too large for a number', () => {
      const input = parseJson('{"id":12345678901234567890}');
      expect(renderTemplate('{{input.id}} {{input}}', withInput(input))).toBe(
        '12345678901234567890 {"id":12345678901234567890}',
      );
    });

    it('never expands what was filled in, whatever it is', () => {
      const braces = fc.constantFrom('{{input}}', '{{input.a}}', '{{steps.s.output}}', '{{', '}}', '{', '$&', '$1');
      const hostile = fc.array(fc.oneof(braces, fc.string()), { maxLength: 6 }).map((pieces) => pieces.join(''));
      fc.assert(
        fc.property(hostile, hostile, (first, second) => {
          const scope: RenderScope = {
            input: { a: first },
            steps: new Map([['s', { text: second, json: undefined }]]),
          };
          const text = renderTemplate('[{{input.a}}|{{steps.s.output}}|{{input.a}}]', scope);
          expect(text).toBe(`[${first}|${second}|${first}]`);
        }),
      );
    });

    it('of one reference returns any JSON value that is no text as JSON of the same value', () => {
      const value = fc.jsonValue().filter((json) => typeof json !== 'string');
      fc.assert(
        fc.property(value, (json) => {
          const plain = JSON.parse(JSON.stringify(json)) as unknown;
          expect(JSON.parse(renderTemplate('{{input.v}}', withInput({ v: plain })))).toEqual(plain);
        }),
      );
    });

    const unreachable = [
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'a.length',
      'a.at',
      'b.length',
      'b.0',
    ];
    it.each([...unreachable, 'missing', 'a.2', 'a.01', 'a.-1', 'c.x'])('does not reach input.%s', async (path) => {
      const input = { a: [1, 2], b: 'text', c: null };
      const text = await refusalOf('invalid_function_request', () =>
        renderTemplate(`{{input.${path}}}`, withInput(input)),
      );
      expect(text).toContain(`{{input.${path}}}`);
    });

    it('does not look into a large integer that is kept as text', async () => {
      const input = parseJson('{"id":12345678901234567890}');
      await refusalOf('invalid_function_request', () => renderTemplate('{{input.id.rawJSON}}', withInput(input)));
    });

    it('reaches a field that is really there, even if it is called __proto__', () => {
      const input = JSON.parse('{"__proto__":{"constructor":"own"}}') as unknown;
      expect(renderTemplate('{{input.__proto__.constructor}}', withInput(input))).toBe('own');
    });

    it('that finds nothing in the answer of a step is no fault of the client', async () => {
      for (const scope of [withStep('no JSON'), withStep('{}', {}), withStep('"x"', 'x')]) {
        await refusalOf('execution_failed', () => renderTemplate('{{steps.s.output.a}}', scope));
      }
    });
  });

  describe('messages', () => {
    it('are filled in their text and in the text of their parts, and stay the same otherwise', () => {
      const image = { type: 'image_url', image_url: { url: '{{input}}' } };
      const messages = [
        { ...message('system', 'For {{input}}'), name: '{{input}}' },
        message('user', [{ type: 'text', text: '<{{input}}>', more: 1 }, image]),
      ];
      expect(renderMessages(messages, withInput('x'))).toEqual([
        { role: 'system', content: 'For x', name: '{{input}}' },
        { role: 'user', content: [{ type: 'text', text: '<x>', more: 1 }, image] },
      ]);
      expect(messages[0]?.content).toBe('For {{input}}');
    });

    it('that would grow beyond the bound are refused, all of them counted together', async () => {
      const half = 'x'.repeat(renderedMaxBytes / 2);
      const twice = [message('user', '{{input}}'), message('user', '{{input}}')];
      expect(renderMessages(twice, withInput(half))).toHaveLength(2);
      await refusalOf('invalid_function_request', () => renderMessages(twice, withInput(`${half}x`)));
      const many = [message('user', '{{input}}'.repeat(10_000))];
      await refusalOf('invalid_function_request', () => renderMessages(many, withInput(half)));
    });

    it('that the answer of a step blows up beyond the bound are no fault of the client', async () => {
      const scope = withStep('x'.repeat(renderedMaxBytes));
      await refusalOf('execution_failed', () => renderMessages([message('user', 'a{{steps.s.output}}')], scope));
    });
  });

  const schema = { type: 'object', required: ['label'], properties: { label: { enum: ['bug', 'wish'] } } };

  describe('a test case', () => {
    it.each<[expect: Expectation, output: string]>([
      [{ contains: 'support' }, 'This is a support ticket.'],
      [{ equals: 'bug' }, ' bug\n'],
      [{ equals: { a: [1, 2], b: null } }, '```json\n{"b":null,"a":[1,2]}\n```'],
      [{ equals: 7 }, '7'],
      [{ equals: null }, 'null'],
      [{ schema }, '{"label":"bug"}'],
      [{ schema, contains: 'wish', equals: { label: 'wish' } }, '{"label":"wish"}'],
    ])('that expects %j passes with %j', async (expected, output) => {
      expect(await judgeCase(expected, output)).toEqual({ passed: true });
    });

    it.each<[expect: Expectation, output: string | undefined]>([
      [{ contains: 'support' }, 'This is a SUPPORT ticket.'],
      [{ equals: 'bug' }, 'bugs'],
      [{ equals: { a: 1 } }, '{"a":2}'],
      [{ equals: { a: 1 } }, 'no JSON'],
      [{ equals: 7 }, '"7"'],
      [{ schema }, '{"label":"other"}'],
      [{ schema }, 'bug'],
      [{ schema, contains: 'missing' }, '{"label":"bug"}'],
      [{ contains: '' }, undefined],
    ])('that expects %j fails with %j and says why', async (expected, output) => {
      expect(await judgeCase(expected, output)).toEqual({ passed: false, problem: expect.stringMatching(/\w/) });
    });
  });
});
