// Everything that is known of a client interface is in its folder: no other file has a table of interfaces, except the files
// that the page of shared lists for the next one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { interfaceIds } from '../../shared/foundation/constants/index.ts';
import { projectRoot, readSourceFiles } from '../support/source-files.ts';

/** How many interfaces a file may name that is no table of them. */
const namedMax = 2;
/** How many files the next interface may touch beside its folder, its tests and its file of the simulator. */
const touchedMax = 12;

const ownFolder = 'shared/protocol/interfaces/';

/** Files that name several formats of providers, or fields of bodies that have the same names. */
const otherSubjects: Readonly<Record<string, string>> = {
  'infra/bench/sections/hostile.ts': 'provider formats',
  'infra/cli/litellm/deployments.ts': 'modes of LiteLLM',
  'infra/local/simulator/formats/openai-chat-completions.ts': 'fields of bodies',
  'infra/local/simulator/formats/openai-responses.ts': 'the simulator’s file',
  'infra/local/simulator/provider-refusals.ts': 'provider formats',
  'infra/local/simulator/refused-histories.ts': 'provider formats',
  'infra/local/simulator/refused-turns.ts': 'provider formats',
  'infra/model-list/read-genai-prices.ts': 'provider formats',
  'infra/model-list/read-text-models.ts': 'provider formats',
  'shared/routing/formats/capabilities.ts': 'provider formats',
  'shared/routing/formats/hub/targets/index.ts': 'provider formats',
  'shared/routing/formats/received-answer.ts': 'provider formats',
  'shared/routing/formats/target-rules/rules-table.ts': 'provider formats',
  'shared/routing/planner/auto-models.ts': 'units of prices',
};

/** Interfaces whose ids occur as strings or as keys of an object. */
function namedInterfaces(text: string): readonly string[] {
  return interfaceIds.filter((id) => new RegExp(`(['"\`])${id}\\1|(?<![\\w.$-])${id}\\??:`).test(text));
}

/** Paths of the table below this heading of the page. */
function touchedFiles(): readonly string[] {
  const page = readFileSync(join(projectRoot, 'shared/README.md'), 'utf8');
  const [, section = ''] = page.split('## What the next interface touches');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, path = '']) => path);
}

const tables = readSourceFiles(['functions', 'infra', 'shared']).filter(
  ({ path, text }) => !path.startsWith(ownFolder) && namedInterfaces(text).length > namedMax,
);

describe('a client interface', () => {
  it(`is known outside its folder to at most ${touchedMax} files, which the page of shared lists`, () => {
    const touched = touchedFiles();
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.length).toBeLessThanOrEqual(touchedMax);
    expect(touched.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
    const unlisted = tables.map(({ path }) => path).filter((path) => !touched.includes(path));
    expect(unlisted.filter((path) => !(path in otherSubjects))).toEqual([]);
  });

  it('has no exception that names less than three, or that the page lists', () => {
    const found = tables.map(({ path }) => path);
    expect(Object.keys(otherSubjects).filter((path) => !found.includes(path))).toEqual([]);
    expect(touchedFiles().filter((path) => path in otherSubjects)).toEqual([]);
  });

  it.each([
    [`const paid = ['images', "speech", 'rerank'];`, ['images', 'rerank', 'speech']],
    [`{ 'count-tokens': 1, speech: 2, rerank?: 3 }`, ['count-tokens', 'rerank', 'speech']],
    [`call.images, speechOf(rerank), text-messages: 'responses of it'`, []],
  ])('is found where a text names it as a string or a key: %s', (text, ids) => {
    expect(namedInterfaces(text).toSorted()).toEqual(ids);
  });
});
