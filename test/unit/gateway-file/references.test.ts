import { describe, expect, it } from '#jest';
import { exampleKey, pathsOf, problemsOf, spoiled } from './example-file.ts';

const second = (section: string, id: string): string => `${section}\n  - id: ${id}`;

describe('a name that is taken twice is refused at the later place', () => {
  it('for providers, models and workspaces', () => {
    const provider = second('providers:', 'acme\n    display_name: A\n    base_url: http://a.example');
    expect(pathsOf(spoiled('providers:', provider))).toEqual(['providers[1].id']);
    expect(pathsOf(spoiled('id: acme/small-1', 'id: acme/large-1'))).toContain('models[1].id');
    expect(pathsOf(spoiled('workspaces:', second('workspaces:', 'team-a')))).toEqual(['workspaces[1].id']);
  });

  it('for a provider within a model', () => {
    const entry = `{ provider: acme, upstream_model: x, input_price_per_million: "1", output_price_per_million: "1",
      context_length: 1, max_output_tokens: 1 }`;
    expect(pathsOf(spoiled('providers: []', `providers: [${entry}, ${entry}]`))).toEqual([
      'models[1].providers[1].provider',
    ]);
  });

  it('for key names within a workspace, and for key texts within the file', () => {
    const key = `- { name: ci, key: ${exampleKey}`;
    expect(pathsOf(spoiled(key, `- { name: ci }\n      ${key}`))).toEqual(['workspaces[0].keys[1].name']);
    const other = `workspaces:\n  - { id: other, keys: [ { name: ci, key: ${exampleKey} } ] }`;
    const problems = problemsOf(spoiled('workspaces:', other));
    expect(problems.map(({ path }) => path)).toEqual(['workspaces[1].keys[0].key']);
    expect(JSON.stringify(problems)).not.toContain(exampleKey);
  });

  it('for the provider of a stored BYOK connection within a workspace, not in another one', () => {
    const connection = '{ provider: acme, key: { env: ACME_BYOK }, policy: always, budget_usd: "10.00" }';
    const other = '{ provider: acme, key: { env: ACME_OTHER }, policy: allowed }';
    expect(pathsOf(spoiled(connection, `${connection}, ${other}`))).toEqual([
      'workspaces[0].byok.connections[1].provider',
    ]);
    const workspace = `workspaces:\n  - { id: other, byok: { connections: [ ${other} ] } }`;
    expect(pathsOf(spoiled('workspaces:', workspace))).toEqual([]);
  });

  it('for preset slugs and versions', () => {
    const preset = '{ slug: terse, versions: [ { version: "1", config: {} } ], designated: "1" }';
    expect(pathsOf(spoiled('presets:\n', `presets:\n      - ${preset}\n`))).toEqual(['workspaces[0].presets[1].slug']);
    const version = '{ version: "1", config: { temperature: 0 } }';
    expect(pathsOf(spoiled(version, `${version}, ${version}`))).toEqual([
      'workspaces[0].presets[0].versions[1].version',
    ]);
  });
});

describe('a name of nothing is refused', () => {
  const cases: [written: string, instead: string, path: string][] = [
    ['- provider: acme', '- provider: other', 'models[0].providers[0].provider'],
    ['models: all', 'models: [acme/large-1, acme/large-2]', 'workspaces[0].models[1]'],
    ['models: all', 'models: [auto]', 'workspaces[0].models[0]'],
    ['{ provider: acme, key', '{ provider: other, key', 'workspaces[0].byok.connections[0].provider'],
    ['model: acme/large-1', 'model: acme/none', 'workspaces[0].functions[0].revisions[0].model'],
    ['[acme/small-1]', '[acme/small-1, acme/none]', 'workspaces[0].functions[0].revisions[0].fallback_models[1]'],
    ['state: activated', 'state: draft', 'workspaces[0].functions[0].active'],
  ];

  it.each(cases)('%s → %s', (written, instead, path) => {
    expect(pathsOf(spoiled(written, instead))).toEqual([path]);
  });

  it('but a function may call auto, and a function without an active revision is fine', () => {
    expect(pathsOf(spoiled('model: acme/large-1', 'model: auto'))).toEqual([]);
    expect(pathsOf(spoiled('active: r2', 'active: null'))).toEqual([]);
    expect(pathsOf(spoiled('        active: r2\n', ''))).toEqual([]);
  });
});
