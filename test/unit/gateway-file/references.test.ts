import { describe, expect, it } from '#jest';
import { exampleText, fileOf, pathsOf, problemsOf, spoiled } from './example-file.ts';

describe('a name that is taken twice is refused at the later place', () => {
  it('and named, however long it is, unless it may be a credential', () => {
    const long = 'acme/gpt-4.1-mini-2025-04-14-preview-of-the-next-release';
    const models = spoiled('id: acme/small-1', `id: ${long}`, spoiled('id: acme/large-1', `id: ${long}`));
    expect(problemsOf(models)).toContainEqual(
      expect.objectContaining({ path: 'models[1].id', message: `"${long}" is already taken by an earlier entry` }),
    );
    const odd = '\n  - { id: sk-0123456789abcdefghij, base_url: http://a.example }';
    expect(problemsOf(spoiled('providers:', `providers:${odd}${odd}`))).toMatchObject([
      { path: 'providers[1].id', message: 'it is already taken by an earlier entry' },
    ]);
  });

  it('and in no other workspace, for a BYOK connection', () => {
    const connection = '{ provider: acme, key: { env: ACME_OTHER }, policy: allowed }';
    const workspace = `workspaces:\n  - { id: other, byok: { connections: [ ${connection} ] } }`;
    expect(pathsOf(spoiled('workspaces:', workspace))).toEqual([]);
  });
});

const withFunctions = (functions: unknown[]): string =>
  `${exampleText.slice(0, exampleText.indexOf('    functions:'))}    functions: ${JSON.stringify(functions)}\n`;

const prompt = (revision: object) =>
  withFunctions([
    {
      id: 'f',
      kind: 'prompt',
      revisions: [{ id: 'r', model: 'auto', messages: [{ role: 'user', content: '{{input}}' }], ...revision }],
    },
  ]);

const step = (id: string, content: string, more: object = {}) => ({
  id,
  model: 'acme/large-1',
  messages: [{ role: 'user', content }],
  ...more,
});

const workflow = (steps: object[], more: object = {}) =>
  withFunctions([
    {
      id: 'f',
      kind: 'workflow',
      revisions: [{ id: 'r', input: { type: 'object' }, steps, output: { step: 'a' }, ...more }],
    },
  ]);

const revision = 'workspaces[0].functions[0].revisions[0]';

describe('a prompt', () => {
  it('gets the defaults of its revisions; its status and active revision are left to what is stored', () => {
    const [declared] = fileOf(prompt({})).workspaces[0]?.functions ?? [];
    expect(declared).not.toMatchObject({ status: expect.anything() });
    expect(declared).not.toMatchObject({ active: expect.anything() });
    expect(declared?.revisions[0]).toMatchObject({
      expires_at: null,
      fallback_models: [],
      options: {},
      input: { type: 'text' },
      cases: [],
    });
  });

  const wrong: [title: string, revision: object, path: string][] = [
    ['options with a place of their own', { options: { model: 'x' } }, '.options.model'],
    ['stream', { options: { stream: true } }, '.options.stream'],
    ['steps in a prompt', { steps: [] }, '.steps'],
    ['a template it cannot fill', { messages: [{ role: 'user', content: '{{inputs}}' }] }, '.messages[0].content'],
    ['a template that does not end', { messages: [{ role: 'user', content: 'a {{input' }] }, '.messages[0].content'],
    ['a path into text', { messages: [{ role: 'user', content: '{{input.a}}' }] }, '.messages[0].content'],
    ['a step in a prompt', { messages: [{ role: 'user', content: '{{steps.a.output}}' }] }, '.messages[0].content'],
    [
      'a template in a part',
      { messages: [{ role: 'user', content: [{ type: 'text', text: '{{x}}' }] }] },
      '.messages[0].content[0].text',
    ],
    ['no messages', { messages: [] }, '.messages'],
    ['a date that is none', { expires_at: 'tomorrow' }, '.expires_at'],
    ['two ends of life', { expires_at: '2027-01-01', valid_for: '30d' }, '.valid_for'],
    ['a length of time that is none', { valid_for: 'a while' }, '.valid_for'],
    [
      'a case whose input is of another kind',
      { cases: [{ input: { a: 1 }, expect: { equals: 'x' } }] },
      '.cases[0].input',
    ],
    ['a case that expects nothing', { cases: [{ input: 'a', expect: {} }] }, '.cases[0].expect'],
    ['another response format', { response_format: { type: 'xml' } }, '.response_format.type'],
  ];

  it.each(wrong)('is refused at its place: %s', (_title, spoiledRevision, path) => {
    expect(pathsOf(prompt(spoiledRevision))).toEqual([revision + path]);
  });

  it('with a path that its closed schema cannot have is refused, one that it may have is not', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string' }, b: { type: 'object' }, c: { $ref: '#/$defs/c' } },
    };
    const using = (path: string) =>
      pathsOf(
        prompt({ input: { type: 'object', schema }, messages: [{ role: 'user', content: `{{input.${path}}}` }] }),
      );
    for (const path of ['a', 'b.any', 'c.any']) expect(using(path)).toEqual([]);
    for (const path of ['d', 'a.deeper', 'constructor'])
      expect(using(path)).toEqual([`${revision}.messages[0].content`]);
  });
});

describe('a workflow', () => {
  it('whose steps use each other without a cycle is accepted', () => {
    const json = { response_format: { type: 'json_object' } };
    const steps = [
      step('a', '{{steps.b.output.x}} {{ steps.c.output }}'),
      step('b', '{{input.q}}', json),
      step('c', 'x'),
    ];
    expect(pathsOf(workflow(steps))).toEqual([]);
    expect(pathsOf(workflow(steps, { output: 'Result: {{steps.a.output}}' }))).toEqual([]);
  });

  it('whose steps form a cycle is refused with the cycle', () => {
    const steps = [step('a', '{{steps.b.output}}'), step('b', '{{steps.c.output}}'), step('c', '{{steps.b.output}}')];
    expect(problemsOf(workflow(steps))).toEqual([
      { path: `${revision}.steps`, message: 'form a cycle: b needs c needs b', line: expect.any(Number) },
    ]);
  });

  const wrong: [title: string, text: string, path: string][] = [
    ['a step that does not exist', workflow([step('a', '{{steps.z.output}}')]), '.steps[0].messages[0].content'],
    ['a step of that id twice', workflow([step('a', 'x'), step('a', 'x')]), '.steps[1].id'],
    [
      'a path into a text answer',
      workflow([step('a', '{{steps.b.output.x}}'), step('b', 'x')]),
      '.steps[0].messages[0].content',
    ],
    ['an output of no step', workflow([step('a', 'x')], { output: { step: 'z' } }), '.output.step'],
    ['an output template of no step', workflow([step('a', 'x')], { output: '{{steps.z.output}}' }), '.output'],
    ['text for input', workflow([step('a', 'x')], { input: { type: 'text' } }), '.input.type'],
    ['a model that does not exist', workflow([step('a', 'x', { model: 'none' })]), '.steps[0].model'],
    ['no steps', workflow([], { output: 'x' }), '.steps'],
  ];

  it.each(wrong)('is refused at its place: %s', (_title, text, path) => {
    expect(pathsOf(text)).toEqual([revision + path]);
  });

  it('of an unknown kind is refused', () => {
    expect(pathsOf(withFunctions([{ id: 'f', kind: 'agent', revisions: [] }]))).toEqual([
      'workspaces[0].functions[0].kind',
    ]);
  });
});
