// The value of a stage holds the stage before and what it adds: a copy of the fields of the stage before would be made for every call.
import { describe, expect, it } from '#jest';
import { readSourceFiles, type SourceFile } from '../support/source-files.ts';

type Source = Pick<SourceFile, 'path' | 'text'>;

const home = 'functions/gateway/stages.ts';

/** Returns the types of the values that stages pass on. `Planned` is the type parameter for a routed or an opened call. */
const stageTypes = (text: string): readonly string[] => [
  'Planned',
  ...[...text.matchAll(/^export (?:interface|type) (\w+Call|CallBody)\b/gm)].map(([, name = '']) => name),
];

/** Matches a value's type: one of a stage, a promise of one, or some of its fields. */
const typePattern = (types: readonly string[]): string => `(?:Promise<|Pick<)?(?:${types.join('|')})\\b(?!\\[)`;

const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Returns the functions whose results are values of stages. */
function stageFunctions(files: readonly Source[], type: string): readonly string[] {
  const patterns = [
    `function (\\w+)(?:<[^>]*>)?\\([^;{]*\\): ${type}`,
    `const (\\w+) = (?:async )?(?:<[^>]*>)?\\([^;{=]*\\): ${type}`,
  ];
  return patterns.flatMap((pattern) => files.flatMap(({ text }) => namesIn(text, new RegExp(pattern, 'g'))));
}

interface StageWords {
  readonly type: string;
  /** Names of the fields that have values of stages. */
  readonly fields: readonly string[];
  readonly functions: readonly string[];
}

/** Returns the names that have the value of a stage in this text. The name of such a field has one unless the text says otherwise. */
function stageNames(text: string, { type, fields, functions }: StageWords): readonly string[] {
  const annotated = namesIn(text, new RegExp(`\\b(\\w+)\\??: ${type}`, 'g'));
  const results = namesIn(text, new RegExp(`const (\\w+) = (?:await )?(?:${functions.join('|') || '-'})\\(`, 'g'));
  const others = namesIn(text, new RegExp(`\\b(\\w+)\\??: (?!${type})[A-Z]`, 'g'));
  return [...new Set([...annotated, ...results, ...fields.filter((field) => !others.includes(field))])];
}

/** Returns the places where the fields of a stage's value are copied, as `path: copy`. */
function copies(files: readonly Source[], types: readonly string[]): readonly string[] {
  const type = typePattern(types);
  const [stages] = files;
  const fields = namesIn(stages?.text ?? '', new RegExp(`\\b(\\w+): ${type}`, 'g'));
  const words = { type, fields, functions: stageFunctions(files, type) };
  return files.flatMap(({ path, text }) => {
    const names = stageNames(text, words);
    const value = `(?:this\\.#\\w+\\.)?(?:${names.join('|') || '-'})(?:\\.(?:${fields.join('|')}))*(?![\\w.(])`;
    const pattern = [
      `\\.\\.\\.\\(?(?:await )?${value}`,
      `Object\\.assign\\(\\{\\}, (?:[\\w.]+, )*${value}`,
      `\\.\\.\\.\\w+,?\\s*\\} = (?:await )?${value}`,
      `\\.\\.\\.\\w+,?\\s*\\}: ${type}`,
    ];
    return [...text.matchAll(new RegExp(pattern.join('|'), 'g'))].map(([copy]) => `${path}: ${copy}`);
  });
}

describe('the value of a stage', () => {
  const sources = readSourceFiles(['functions/gateway']);
  const files = sources.toSorted((one, other) => Number(other.path === home) - Number(one.path === home));
  const types = stageTypes(files[0]?.text ?? '');

  it('is never copied into the next: no object spreads one', () => {
    expect(types).toEqual(expect.arrayContaining(['ParsedCall', 'IdentifiedCall', 'RoutedCall', 'AdmittedCall']));
    expect(copies(files, types)).toEqual([]);
  });

  it.each([
    ['const settled = (admitted: AdmittedCall, key: Item) => ({ ...admitted, key });', ['...admitted']],
    ['f(call: ServedCall<RoutedCall>) { return { ...call.admitted.planned, plan }; }', ['...call.admitted.planned']],
    ['f(call: AdmittedCall) { const { key, ...rest } = call; }', ['...rest } = call']],
    ['const f = ({ key, ...rest }: IdentifiedCall) => rest;', ['...rest }: IdentifiedCall']],
    ['f(planned: Planned) { return Object.assign({}, planned, { plan }); }', ['Object.assign({}, planned']],
    [
      'async function route(deps: D): Promise<RoutedCall | E> {}\nconst next = await route(deps);\ng({ ...next, key });',
      ['...next'],
    ],
    ['f(call: AdmittedCall) { return [...call.planned.effective.plan, ...names]; }', []],
    ['f(admitted: AdmittedCall) { return { admitted, content }; }', []],
    ['f({ planned }: AdmittedCall) { return { ...planned }; }', ['...planned']],
    ['f(call: ServedCall) { const { admitted } = call; return { ...admitted }; }', ['...admitted']],
    ['async f() { const { call: planned } = await read(); return { ...planned, key }; }', ['...planned']],
    ['f(provided: Answer) { return { ...provided.admitted }; }', []],
    ['f(admitted: AdmittedCandidate) { return { ...admitted, spanId }; }', []],
  ])('is found where it is copied: %s', (text, found) => {
    const fields = 'interface A { admitted: AdmittedCall; planned: Planned; effective: CallBody }';
    const paths = [
      { path: home, text: fields },
      { path: 'b', text },
    ];
    expect(copies(paths, types)).toEqual(found.map((copy) => `b: ${copy}`));
  });
});
