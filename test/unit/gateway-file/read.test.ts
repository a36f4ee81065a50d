import fc from 'fast-check';
import { stringify } from 'yaml';
import { describe, expect, it } from '#jest';
import { formatProblem, readGatewayFile, readWithList } from '../../../shared/configuration/gateway-file/index.ts';
import { providerApis } from '../../../shared/foundation/constants/index.ts';
import { anyText } from '../../support/any-text.ts';
import { catalogueIn, exampleKey, exampleText, fileOf, pathsOf, problemsOf, spoiled } from './example-file.ts';
import { secret, wrongFiles } from './wrong-files.ts';

/** The smallest valid file. */
const smallest = `
workspaces: [{ id: w, keys: [{ name: k }] }]
providers:
  - { id: acme, base_url: "https://api.acme.example/v1///" }
models:
  - id: acme/large-1
    providers:
      - { provider: acme, input_price_per_million: "1", output_price_per_million: "2", context_length: 8000 }
`;

describe('a file that is right', () => {
  it('names every interface that a provider speaks, and constant headers, their names in lower case', () => {
    const apis = `[${providerApis.join(', ')}]`;
    const headers = '{ Anthropic-Version: 2023-06-01, x-title: "my gateway" }';
    const [provider] = fileOf(spoiled('reasoning_style: effort', `apis: ${apis}\n    headers: ${headers}`)).providers;
    expect(provider?.apis).toEqual(providerApis);
    expect(provider?.headers).toEqual({ 'anthropic-version': '2023-06-01', 'x-title': 'my gateway' });
  });
});

describe('YAML', () => {
  const messagesOf = (text: string) => problemsOf(text).map(({ message }) => message);

  it('that is broken is reported with line and column, and not quoted', () => {
    const [problem] = problemsOf('providers: []\nmodels: [\n  "sk-secret');
    expect(problem?.path).toBe('');
    expect(problem?.message).toMatch(/^line 3, column \d+: /);
    expect(problem?.message).not.toContain('sk-secret');
  });

  it.each([
    [
      'a tab',
      'providers:\n\t- id: acme\n\t  base_url: x\n\t- id: other\n\t  base_url: y\nmodels:\n\t- id: m\n',
      'line 2, column 1: a tab stands where YAML takes spaces only: indent with spaces',
    ],
    [
      'a tab in the middle',
      'providers:\n  - id: acme\n\tbase_url: https://x\n\tauth: none\n    accepts_byok_header: true\nmodels: []\nworkspaces:\n  - id: a\n',
      'line 3, column 1: a tab stands where YAML takes spaces only: indent with spaces',
    ],
    [
      'a colon in a text',
      'providers:\n  - id: acme\n    display_name: Acme: the best\nmodels: []\n',
      'line 3, column 19: a text with a colon in it must stand in quotes, or the line is indented wrongly',
    ],
    [
      'a quote that is not closed',
      'providers:\n  - id: "acme\nmodels: []\n',
      'line 4, column 1: Missing closing "quote',
    ],
    [
      'a bracket of the wrong kind',
      'providers: [{ id: acme, base_url: x ]\nmodels: []\nworkspaces: []\n',
      'line 1, column 37: Flow map in block collection must be sufficiently indented and end with a }',
    ],
  ])('has one message for one fault of its YAML: %s', (_title, text, message) => {
    expect(messagesOf(text)).toEqual([message]);
  });

  it('has one message for each name that is written twice', () => {
    const message =
      'the names of a mapping are unique, and this one is written twice: write it once, with all that belongs to it';
    expect(messagesOf('providers: []\nproviders: []\nmodels: []\nmodels: []\n')).toEqual([
      `line 2, column 1: ${message}`,
      `line 4, column 1: ${message}`,
    ]);
  });

  it('that aliases blow up, run in a cycle or nest too deeply is refused', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 9; level += 1) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    expect(problemsOf(lines.join('\n'))).toHaveLength(1);
    expect(problemsOf('models: &m [*m, *m]')).toHaveLength(1);
    expect(problemsOf(`models: ${'['.repeat(70)}${']'.repeat(70)}`)).toHaveLength(1);
    for (const deep of [
      '['.repeat(100_000),
      `models: ${'['.repeat(50_000)}${']'.repeat(50_000)}`,
      '- '.repeat(50_000),
    ]) {
      const problems = problemsOf(deep);
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).toMatch(/^(line 1, column \d+: )?is nested too deeply$/);
    }
    expect(problemsOf('models: *none')[0]?.message).toMatch(/alias/);
  });

  it('that is empty, too large, of another kind or several documents is refused', () => {
    expect(problemsOf('')[0]?.message).toBe('is empty');
    expect(problemsOf(`# ${'x'.repeat(4 * 1024 * 1024)}`)[0]?.message).toContain('larger than');
    expect(problemsOf('just text')).toEqual([{ path: '', message: 'must be a mapping' }]);
    expect(problemsOf(`${smallest}\n---\n${smallest}`)[0]?.message).toContain('multiple documents');
    expect(problemsOf('providers: !custom []\nmodels: []')[0]?.message).toContain('line 1, column 12');
  });

  it('with values that JSON cannot hold exactly is refused at their place', () => {
    const config = '{ temperature: 0 }';
    const at = 'workspaces[0].presets[0].versions[0].config.seed';
    for (const value of ['.inf', '.nan', '12345678901234567890', '!!binary aGk=']) {
      expect(pathsOf(spoiled(config, `{ seed: ${value} }`))).toEqual([at]);
    }
    expect(pathsOf(spoiled(config, '{ __proto__: {} }'))).toEqual([
      'workspaces[0].presets[0].versions[0].config.__proto__',
    ]);
  });
});

describe('one wrong place', () => {
  it.each(wrongFiles)('is a problem of that place: $title', ({ written, instead, path, message, hasMore }) => {
    const problems = problemsOf(spoiled(written, instead));
    expect(problems.filter((problem) => problem.path === path)).toMatchObject([
      { message: expect.stringContaining(message) },
    ]);
    expect(problems.length > 1).toBe(hasMore);
    for (const hidden of [secret, exampleKey]) expect(JSON.stringify(problems)).not.toContain(hidden);
  });
});

describe('secrets', () => {
  it.each([
    'Authorization',
    'Proxy-Authorization',
    'Cookie',
    'X-Api-Key',
    'x-goog-api-key',
    'X-Auth-Token',
    'my_secret',
  ])('are no constant headers: %s', (name) => {
    const value = 'the-credential-itself';
    const [problem, ...others] = problemsOf(spoiled('reasoning_style: effort', `headers: { ${name}: ${value} }`));
    expect(others).toEqual([]);
    expect(problem?.path).toBe(`providers[0].headers.${name}`);
    expect(problem?.message).toContain('auth: { header: { name: HEADER, env: NAME } }');
    expect(JSON.stringify(problem)).not.toContain(value);
  });

  it.each(['Host', 'content-length', 'Content-Type', 'Transfer-Encoding', 'connection', 'traceparent'])(
    'and what the gateway sets itself is refused beside them: %s',
    (name) => {
      expect(problemsOf(spoiled('reasoning_style: effort', `headers: { ${name}: x }`))).toMatchObject([
        { path: `providers[0].headers.${name}`, message: 'cannot be set here: the gateway sets it itself' },
      ]);
    },
  );

  it('a key with a wrong checksum is refused at its place', () => {
    const wrong = exampleKey.slice(0, -1) + (exampleKey.endsWith('0') ? '1' : '0');
    expect(pathsOf(spoiled(exampleKey, wrong))).toEqual(['workspaces[0].keys[0].key']);
  });
});

it('the reader shows all problems at once, of shape and of reference, each place once', () => {
  let text = spoiled('"2.50"', '2.50');
  text = spoiled('- provider: acme', '- provider: acmee', text);
  text = spoiled('{ provider: acme, key', '{ provider: other, key', text);
  text = spoiled('rpm: 60,', 'rmp: 60,', text);
  text = spoiled('state: activated', 'state: draft', text);
  const paths = pathsOf(text);
  expect(new Set(paths)).toEqual(
    new Set([
      'models[0].providers[0].input_price_per_million',
      'models[0].providers[0].provider',
      'workspaces[0].byok.connections[0].provider',
      'workspaces[0].keys[0].rmp',
      'workspaces[0].functions[0].active',
    ]),
  );
  expect(paths).toHaveLength(5);
});

it('the reader shows the problems of rules over several fields next to those of the fields', () => {
  const provider =
    'kind: bedrock\n    credentials: [{ env: A }]\n    idle_timeout_ms: 0\n    headers: { Cookie: x, a: 1 }';
  const tier = (above: number, price: string) =>
    `{ above_prompt_tokens: ${above}, input_price_per_million: ${price}, output_price_per_million: "1" }`;
  const entry = `price_tiers: [${tier(9, '"1"')}, ${tier(8, '1')}]\n        image_prices: { "a b": "1", default: 1 }`;
  let text = spoiled('reasoning_style: effort', provider);
  text = text.replace(/^ {4}auth: .*\n/m, '').replace('rate_limit_rpm: 600', entry);
  expect(pathsOf(text)).toEqual([
    'providers[0].accepts_byok_header',
    'providers[0].credentials',
    'providers[0].idle_timeout_ms',
    'providers[0].headers.a',
    'providers[0].headers.Cookie',
    'models[0].providers[0].price_tiers[1].input_price_per_million',
    'models[0].providers[0].price_tiers[1].above_prompt_tokens',
    'models[0].providers[0].image_prices.default',
    'models[0].providers[0].image_prices["a b"]',
  ]);
});

it('the reader does not take a file without providers or models for an empty catalogue', () => {
  expect(readGatewayFile('workspaces: []')).toEqual({
    ok: false,
    problems: [
      { path: 'providers', message: 'is required' },
      { path: 'models', message: 'is required' },
    ],
  });
});

// Returns the problems as a user reads them: the wrong name, the place where it would be valid, and the line.
const linesOf = (text: string) => problemsOf(text).map((problem) => formatProblem(problem, 'gateway.yaml'));
const lineOf = (fragment: string, text = exampleText): number =>
  text.slice(0, text.indexOf(fragment)).split('\n').length;

describe('a problem', () => {
  it('quotes a name that is not there, says where it was looked for and which name is near', () => {
    const text = spoiled('- provider: acme', '- provider: acmee');
    expect(linesOf(text)).toEqual([
      `models[0].providers[0].provider: there is no provider "acmee" in providers; did you mean acme? (line ${lineOf('- provider: acmee', text)})`,
    ]);
  });

  it('quotes a plain word in the place of a name, and nothing that may be a secret', () => {
    const messageOf = (id: string) =>
      problemsOf(spoiled('  - id: team-a', `  - id: "${id}"`)).find(({ path }) => path === 'workspaces[0].id')?.message;
    expect(messageOf('team a')).toMatch(/, not "team a"$/);
    for (const id of ['sk key 0123456789', 'a b'.repeat(20), '']) expect(messageOf(id)).toMatch(/underscores$/);
  });

  it('of a field that is missing has the line of what it is missing in', () => {
    const text = spoiled('        input_price_per_million: "2.50"\n', '');
    expect(problemsOf(text)).toEqual([
      {
        path: 'models[0].providers[0].input_price_per_million',
        message: 'is required',
        line: lineOf('- provider: acme', text),
      },
    ]);
  });

  it('has its line also after an anchor, and in what is written on one line', () => {
    const text = [
      'providers: []',
      'models: []',
      'workspaces:',
      '  - id: a',
      '    keys: &keys [{ name: x, rpm: 0 }]',
      '  - id: b',
      '    keys: *keys',
    ].join('\n');
    expect(problemsOf(text).map(({ path, line }) => [path, line])).toEqual([
      ['workspaces[0].keys[0].rpm', 5],
      ['workspaces[1].keys[0].rpm', 5],
    ]);
  });

  it('of the file as a whole names the file', () => {
    expect(linesOf('')).toEqual(['gateway.yaml: is empty']);
    expect(linesOf('providers: []\nmodels: [')).toEqual([
      expect.stringMatching(/^gateway\.yaml: line 2, column \d+: /),
    ]);
  });

  it('cuts a name that is too long to be one', () => {
    const [problem] = problemsOf(spoiled('[acme/small-1]', `["${'x'.repeat(100)}"]`));
    expect(problem?.message).toContain(`"${'x'.repeat(64)}…"`);
  });
});

describe('a minimal file', () => {
  it('needs a provider with its URL and a model with prices and one length', () => {
    const { service, workspaces } = fileOf(smallest);
    const { providers, models } = catalogueIn(smallest);
    expect(providers).toEqual([
      {
        id: 'acme',
        display_name: 'acme',
        base_url: 'https://api.acme.example/v1',
        apis: ['chat-completions'],
        auth: 'none',
        status: 'enabled',
        accepts_byok_header: false,
        data_policy: {},
        idle_timeout_ms: 15_000,
        connect_timeout_ms: 3_000,
        reasoning_tokens: 'included',
      },
    ]);
    expect(models[0]).toEqual({
      id: 'acme/large-1',
      display_name: 'acme/large-1',
      created: 1_800_000_000,
      context_length: 8_000,
      modalities: ['text'],
      auto: false,
      providers: [
        {
          provider: 'acme',
          upstream_model: 'large-1',
          input_price_per_million: '1',
          output_price_per_million: '2',
          context_length: 8_000,
          max_output_tokens: 8_000,
          supported_params: { tools: false, vision: false, json_mode: false, json_schema: false },
          streaming: true,
          rate_limit_rpm: null,
          rate_limit_tpm: null,
          rate_limit_tpd: null,
        },
      ],
    });
    // Settings of service and workspaces that the file does not have stay as they are stored.
    expect(service).toEqual({});
    expect(workspaces).toEqual([{ id: 'w', keys: [{ name: 'k' }], byok: { connections: [] }, functions: [] }]);
  });

  it('may list what makes a call more expensive, of a few names, and lists nothing otherwise', () => {
    const listing = (names: string) =>
      smallest.replace('context_length: 8000', `context_length: 8000, supported_params: { extras: [${names}] }`);
    const extras = ['service_tier', 'web_search', 'plugins', 'best_of'];
    expect(catalogueIn(listing(extras.join(', '))).models[0]?.providers[0]?.supported_params).toMatchObject({ extras });
  });

  it('may say the length at the model instead, and needs it in one of both places', () => {
    const without = smallest.replace(', context_length: 8000', '');
    const atModel = without.replace('    providers:\n', '    context_length: 9000\n    providers:\n');
    expect(catalogueIn(atModel).models[0]).toMatchObject({
      context_length: 9_000,
      providers: [{ context_length: 9_000, max_output_tokens: 9_000 }],
    });
    expect(problemsOf(without)).toMatchObject([
      { path: 'models[0].context_length', message: 'is required, here or in an entry of providers' },
    ]);
  });

  it('of several entries has the longest length as that of the model, and its own length for each entry', () => {
    const second = `      - { provider: other, input_price_per_million: "1", output_price_per_million: "2", context_length: 16000,
          supported_params: { vision: true } }\n`;
    const text = `${smallest.replace('models:', '  - { id: other, base_url: "https://other.example/v1" }\nmodels:')}${second}`;
    const [model] = catalogueIn(text).models;
    expect(model).toMatchObject({
      context_length: 16_000,
      modalities: ['text', 'image'],
      providers: [
        { provider: 'acme', upstream_model: 'large-1', context_length: 8_000, max_output_tokens: 8_000 },
        // A model of another provider keeps its whole name.
        { provider: 'other', upstream_model: 'acme/large-1', context_length: 16_000, max_output_tokens: 16_000 },
      ],
    });
  });
});

const answers = (text: string): void => {
  const result = readGatewayFile(text);
  if (!result.ok) expect(result.problems.length).toBeGreaterThan(0);
};

it('any text is answered with a file or with problems, never with a throw', () => {
  fc.assert(fc.property(anyText(), answers));
  const yamlPieces = fc.constantFrom(
    '- ',
    'a: ',
    '&x ',
    '*x',
    '[',
    ']',
    '{',
    '}',
    '\n',
    '  ',
    '"',
    "'",
    '|',
    '? ',
    '!!set ',
    '---',
    '<<: ',
    '#',
    '1',
  );
  fc.assert(
    fc.property(
      fc.array(yamlPieces, { maxLength: 40 }).map((pieces) => pieces.join('')),
      answers,
    ),
  );
});

it('any value in any place of the file is answered with a file or with problems, never with a throw', () => {
  const places = placesOf(fileOf(exampleText), []);
  const value = fc.oneof(
    fc.jsonValue(),
    fc.object(),
    fc.constantFrom({ __proto__: 1 }, [], {}, null, 'x', -1, 1.5, true),
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), value, (place, instead) => {
      const file = structuredClone(fileOf(exampleText));
      set(file, place, instead);
      answers(stringify(file));
    }),
    // This number of runs changes each place about once.
    { numRuns: 150 },
  );
});

it('what was read can be written and read again without a change', () => {
  const file = fileOf(exampleText);
  expect(fileOf(stringify(file))).toEqual(file);
});

type JsonPath = (string | number)[];

function placesOf(value: unknown, place: JsonPath): JsonPath[] {
  if (typeof value !== 'object' || value === null) return [place];
  const steps: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...(place.length > 0 ? [place] : []), ...steps.flatMap(([step, item]) => placesOf(item, [...place, step]))];
}

function set(target: unknown, place: JsonPath, value: unknown): void {
  const [step, ...rest] = place;
  if (typeof target !== 'object' || target === null || step === undefined) return;
  const members = target as Record<string | number, unknown>;
  if (rest.length === 0) members[step] = value;
  else set(members[step], rest, value);
}

it('faults that only the model list knows come in the same round as others, with their lines', async () => {
  const text = [
    'providers:',
    '  - { id: openai, kind: openai }',
    '  - { id: plain, base_url: "https://plain.example/v1", auth: none }',
    '  - { id: broken, kind: openai, idle_timeout_ms: soon }',
    'models:',
    '  - { from: broken, only: ["gpt-5*"] }',
    '  - { id: spoiled, colour: red, providers: [{ provider: openai }] }',
    '  - { from: openai, only: ["gpt-5*", "no-such-*"] }',
    '  - { from: plain }',
    '  - { id: openai/unlisted, providers: [{ provider: openai }] }',
    'workspaces: [{ id: team, rpm: 5 }]',
  ].join('\n');
  const result = await readWithList(text);
  if (result.ok) throw new Error('the file has no fault');
  expect(result.problems.map(({ path, line }) => [path, line])).toEqual([
    ['providers[2].idle_timeout_ms', 4],
    ['models[1].colour', 7],
    ['models[2].only[1]', 8],
    ['models[3].from', 9],
    [expect.stringMatching(/^models\[4\]\.providers\[0\]/), 10],
    ['workspaces[0].rpm', 11],
  ]);
  expect(await readWithList(exampleText)).toMatchObject({ ok: true });
});
