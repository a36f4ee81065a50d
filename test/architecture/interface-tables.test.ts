// Everything that is known of a client interface is in its folder. No other file has a table of interfaces or names an
// interface, except the files that the page of `shared` lists for the next interface.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { type InterfaceId, interfaceIds } from '../../shared/foundation/constants/index.ts';
import { projectRoot, readSourceFiles } from '../support/source-files.ts';

/** A file that names more interfaces than this number is a table of interfaces. */
const namedMax = 2;
/** The number of files that the next interface may touch beside its folder, its tests and its file of the simulator. */
const touchedMax = 12;

const ownFolder = 'shared/protocol/interfaces/';

/** Files that name several provider formats, or fields of bodies that have the same names as interfaces. */
const otherSubjects: Readonly<Record<string, string>> = {
  'infra/bench/sections/hostile.ts': 'provider formats',
  'infra/bench/sections/turns.ts': 'provider formats',
  'infra/bench/turns/long-answers.ts': 'calls of its own',
  'infra/bench/turns/long-requests.ts': 'calls of its own',
  'infra/local/simulator/formats/openai-chat-completions.ts': 'fields of bodies',
  'infra/local/simulator/formats/openai-responses.ts': 'the simulator’s file',
  'infra/model-list/read-genai-prices.ts': 'provider formats',
  'infra/model-list/read-text-models.ts': 'provider formats',
  'shared/configuration/gateway-file/provider-changes.ts': 'provider formats',
  'shared/routing/formats/capabilities.ts': 'provider formats',
  'shared/routing/formats/hub/targets/index.ts': 'provider formats',
  'shared/routing/formats/received-answer.ts': 'provider formats',
  'shared/routing/formats/target-rules/rules-table.ts': 'provider formats',
};

/** Ids of interfaces that are also ids of provider formats, or words in bodies and in packages. */
const ambiguousIds: readonly InterfaceId[] = [
  'chat-completions',
  'messages',
  'responses',
  'converse',
  'generate-content',
  'embeddings',
  'images',
];

/** Files that name an interface by such an id in another meaning; the next interface does not touch them. */
const otherMeanings: Readonly<Record<string, string>> = {
  'infra/verify/runtime/runtime.ts': 'calls of its own',
  'shared/protocol/wire/tags.ts': 'a tag in an example',
  'shared/routing/formats/hub/package-tasks.ts': 'its translation for the packages of providers',
  'shared/routing/formats/call-candidate.ts': 'a path of Vertex',
};

/** Returns the interfaces whose ids occur as strings or as keys of an object, or whose folders are imported. */
function namedInterfaces(text: string): readonly InterfaceId[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');
  return interfaceIds.filter((id) =>
    new RegExp(`(['"\`])${id}\\1|interfaces/${id}/|(?<![\\w.$-])${id}\\??:`).test(code),
  );
}

/** Returns the paths in the table of the page that lists what the next interface touches. */
function touchedFiles(): readonly string[] {
  const page = readFileSync(join(projectRoot, 'shared/README.md'), 'utf8');
  const [, section = ''] = page.split('## What the next interface touches');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, path = '']) => path);
}

const naming = readSourceFiles(['functions', 'infra', 'shared'])
  .filter(({ path }) => !path.startsWith(ownFolder))
  .map(({ path, text }) => ({ path, names: namedInterfaces(text) }));
const tables = naming.filter(({ names }) => names.length > namedMax);
/** Files that name an interface by an id without a second meaning. The simulator has a file for each interface. */
const namingUnmistakably = naming
  .filter(
    ({ path, names }) => !path.startsWith('infra/local/simulator/') && names.some((id) => !ambiguousIds.includes(id)),
  )
  .map(({ path }) => path);

describe('a client interface', () => {
  it(`is known outside its folder to at most ${touchedMax} files, which the page of shared lists`, () => {
    const touched = touchedFiles();
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.length).toBeLessThanOrEqual(touchedMax);
    expect(touched.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
    const unlisted = tables.map(({ path }) => path).filter((path) => !touched.includes(path));
    expect(unlisted.filter((path) => !(path in otherSubjects))).toEqual([]);
  });

  it('is named by no other file, where its id means nothing else', () => {
    const others = namingUnmistakably.filter((path) => !touchedFiles().includes(path) && !(path in otherSubjects));
    expect(others.toSorted()).toEqual(Object.keys(otherMeanings).toSorted());
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
    [
      `import { measure } from 'protocol/interfaces/speech/measure.ts'; // 'rerank' and images: /* "compact" */`,
      ['speech'],
    ],
  ])('is found if a text names it as a string or a key: %s', (text, ids) => {
    expect(namedInterfaces(text).toSorted()).toEqual(ids);
  });
});
