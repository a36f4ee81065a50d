// Names, comments, messages and pages use the field's standard terms only. Each rule bans words that earlier versions
// used.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { projectRoot, readMarkdownFiles, readSourceFiles } from '../support/source-files.ts';

const shipped = [...readSourceFiles(['shared', 'functions', 'infra']), ...readMarkdownFiles()];

/** Each rule has the words to use and the words that they replace. */
const rules: readonly { readonly use: string; readonly instead: RegExp }[] = [
  {
    use: 'no provider, no call, another instance, …: say which',
    instead: /\b(nobody|somebody|anybody|everybody|whoever)\b/gi,
  },
  { use: 'without effect', instead: /\bin vain\b/gi },
  { use: 'correct, correction', instead: /\b(cures?|mends?|mended|mending|heals?|healed|healing)\b/gi },
  { use: 'cycle', instead: /\bcircles?\b/gi },
  { use: 'rate limited; a stale writer; a closed socket', instead: /\b(hurried|laggards?|sleepers?)\b/gi },
  { use: 'preference, option, request', instead: /\b(\w*wish(es)?)\b/gi },
  { use: 'log context, known', instead: /\b(learnt|tellLog)\b/g },
  { use: 'deferred tasks', instead: /\bAfterwards\b/g },
  { use: 'folder, module; capacity, headroom', instead: /\brooms?\b/gi },
  { use: 'dry run; destructive changes', instead: /\b(rehearse\w*|what-goes)\b/gi },
  { use: 'Input, Details, Status: what the type holds', instead: /(?:interface|type) \w*Facts\b/g },
  {
    use: 'the gateway, where every interface is meant',
    instead: /\b(createChatGateway|warmChat|chatTableActions|chatReservedConcurrency)\b/g,
  },
];

/** Names that another program reads: fields of the management API and properties of CSS. */
const wireNames: Readonly<Record<string, string>> = {
  'test/cli/output.test.ts left': 'a field of the management API',
  'test/contract/operator-access.test.ts left': 'a field of the management API',
  'functions/operator/accounts/show-choices.ts left': 'a field of the management API',
  'functions/operator/page/parts/time-line.tsx left': 'a property of CSS',
  'functions/operator/page/views/keys.tsx left': 'a field of the management API',
  'shared/configuration/management/account-documents.ts left': 'a field of the management API',
};

const nameless = '(?:said|told|asked|given|own|made|left|kept|Said|Told|Asked|Left|Kept)';
/** These names are fields of documents too, so the test forbids them as names of variables and functions only. */
const namelessVariables =
  'added|answered|begun|broken|brought|called|changed|checked|gone|got|heard|lost|marked|named|received|refused|sent|served|spoken|taken|thrown';
/** The first part matches variables and types; the second part matches parameters, fields and destructured names. */
const declared = new RegExp(
  `\\b(?:const|let|function)\\s+(${namelessVariables})\\b|\\b(?:const|let|function|class|interface|type|readonly)\\s+#?(${nameless})\\b|[({,[]\\s*(?:\\.\\.\\.)?(${nameless})\\b\\??(?=\\s*(?:[,:)}\\]]|=[^=]))|\\w: (${nameless})(?=\\s*(?:[,}]|=[^=]))`,
  'g',
);

/**
 * Returns the names in the code of a text that are bare participles. `left` is a direction where `right` is beside it.
 */
function participles(text: string): readonly string[] {
  const code = text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '').replace(/'(?:\\.|[^'\\\n])*'/g, "''");
  const names = [...code.matchAll(declared)].map(([, ...found]) => found.find(Boolean) ?? '');
  return [...new Set(names)].filter((name) => name !== 'left' || !/\bright\b/.test(code));
}

describe('what ships', () => {
  it.each(rules)('is written in the terms of the field: $use', ({ instead }) => {
    const found = shipped.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => [...line.matchAll(instead)].map(([word]) => `${path}:${at + 1} ${word}`)),
    );
    expect(found).toEqual([]);
  });

  it('names things by nouns: no name and no file is a bare participle', () => {
    const code = readSourceFiles(['shared', 'functions', 'infra', 'test']).filter(
      ({ path }) => path !== 'test/architecture/words.test.ts',
    );
    const found = code.flatMap(({ path, text }) => participles(text).map((name) => `${path} ${name}`));
    expect(found.filter((name) => !(name in wireNames)).toSorted()).toEqual([]);
    expect(Object.keys(wireNames).filter((name) => !found.includes(name))).toEqual([]);
    const files = code.filter(({ path }) => /(^|[/-])(said|told|asked|given|made|kept)([./-]|$)/.test(path));
    expect(files.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ['const told = 1;\nlet own: string;', ['told', 'own']],
    ['({ available: left, given = 1 }, ...asked) => ({ said, made: 1 })', ['left', 'given', 'asked', 'said', 'made']],
    ['let sent = 0;\nconst { sent: text } = call;\nfunction refused() {}', ['sent', 'refused']],
    ['const compare = (left: number, right: number) => left - right;', []],
    ["// a model (asked, told)\nconst text = 'is given: what was said';", []],
    ['const { ownText, isTold } = toldBy(leftOut, givenName.asked);', []],
  ])('has its names found where they are declared: %j', (text, names) => {
    expect(participles(text)).toEqual(names);
  });

  it('begins a doc comment with a noun or a verb, not with a pronoun or a preposition', () => {
    const found = readSourceFiles(['shared', 'functions', 'infra', 'test']).flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /\/\*\* ((?:As|Of|By|Beside|Behind|Else|Nor|Those|Such|None where|One (?:that|without|for each|of them|per))\b.*|.*: there is none\..*)/g,
        ),
      ].map(([, sentence]) => `${path} ${sentence}`),
    );
    expect(found).toEqual([]);
  });

  it('writes a condition with "if" in a comment: "where" is a place', () => {
    const found = readSourceFiles(['shared', 'functions', 'infra', 'test']).flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /^\s*(?:\/\/|\/?\*).*\b(?:(?:[Tt]rue|[Ff]alse|[Uu]ndefined|[Nn]ull|[Ee]mpty|[Aa]bsent|Set|Throws|Throws (?:an? )?\w+|Rejects|Thrown|Called|Omits|Loaded) where\b.*)/gm,
        ),
      ].map(([sentence]) => `${path} ${sentence.trim()}`),
    );
    expect(found).toEqual([]);
  });

  it('says "next to", "together with" or "in addition to" in a comment of shared, not "beside"', () => {
    const found = readSourceFiles(['shared']).flatMap(({ path, text }) =>
      [...text.matchAll(/^\s*(?:\/\/|\/?\*).*(?<!`)\b[Bb]eside\b(?!`).*/gm)].map(([line]) => `${path} ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  it('cites no paragraph of a document that is not here: each rule has its own words', () => {
    const everything = [...shipped, ...readSourceFiles(['test'])];
    const cited = everything.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(contract|spec|specification)\b[ §]*\d[\d.]*/gi)].map(([words]) => `${path}: ${words}`),
    );
    expect(cited).toEqual([]);
  });

  it('has no file or folder named for being at hand: util, helper, manager, common, misc', () => {
    const badNames = shipped.filter(({ path }) =>
      /(^|[/-])(utils?|helpers?|managers?|common|misc)([./-]|$)/.test(path),
    );
    expect(badNames.map(({ path }) => path)).toEqual([]);
  });
});

describe('the pages', () => {
  it('begin with their readers: for whom they are, and what they answer', () => {
    const pages = readMarkdownFiles(['shared', 'functions', 'infra', 'test', '.github']);
    const silent = pages.filter(({ path, text }) => path !== 'README.md' && !/^# .+\n\nFor \w/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('have no cell of a table above 200 characters', () => {
    const cells = readMarkdownFiles().flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .flatMap((line) => line.split(/(?<!\\)\|/).map((cell) => ({ path, cell: cell.trim() }))),
    );
    expect(cells.length).toBeGreaterThan(100);
    const long = cells.filter(({ cell }) => cell.length > 200 && !/^-+:?$/.test(cell));
    expect(long.map(({ path, cell }) => `${path}: ${cell.slice(0, 60)}`)).toEqual([]);
  });
});

describe('README.md', () => {
  it('is read to its end: at most 900 words, and no line of a table above 160 characters', () => {
    const page = readFileSync(join(projectRoot, 'README.md'), 'utf8').trim();
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(900);
    const lines = page.split('\n');
    expect(lines.filter((line) => line.startsWith('|') && line.length > 160)).toEqual([]);
  });
});

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

describe('the lock file', () => {
  // npm leaves out platform packages that the registry in use does not carry, and then `npm ci` refuses the whole file.
  it('lists the packages of every platform, so that a fresh install works on each of them', () => {
    const text = readFileSync(join(projectRoot, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          packages[`${path}/node_modules/${name}`] === undefined && packages[`node_modules/${name}`] === undefined,
      ),
    );
    expect(missing).toEqual([]);
  });
});
