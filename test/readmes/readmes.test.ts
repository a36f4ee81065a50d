// Settings, options, commands, names and numbers in the pages, against the code. A page with a new name needs nothing
// here.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '#jest';
import { readOptions as readBenchOptions } from '../../infra/bench/bench-options.ts';
import { checkSettings } from '../../infra/cdk/check-settings.ts';
import { readDeployOptions } from '../../infra/cdk/deployment/deploy-options.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import type { CommandLine } from '../../infra/cli/args/command-line.ts';
import { createProgram } from '../../infra/cli/args/run.ts';
import { readOptions as readLocalOptions } from '../../infra/local/start-options.ts';
import { readSmokeArgs } from '../../infra/verify/smoke.ts';
import {
  answerFeatures,
  clientsOfMessages,
  clientsOfResponses,
  columnsOf,
  requestFeatures,
  translatedApis,
} from '../support/format-features/index.ts';
import { projectRoot, readMarkdownFiles, readSourceFiles } from '../support/source-files.ts';

const sources = readSourceFiles(['shared', 'functions', 'infra']);
const pages = readMarkdownFiles();
const development = stageSettings.dev as StageSettings;
const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const wordsOfTheCode = new Set(
  [...sources.map((file) => file.text), JSON.stringify(scripts)]
    .flatMap((code) => code.match(/[A-Za-z_][\w-]*/g) ?? [])
    .map((word) => word.toLowerCase()),
);

const fences = /^```.*\n[\s\S]*?^```/gm;
const spansOf = (text: string): string[] => [
  ...new Set([...text.replaceAll(fences, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)),
];
/** Lines of code blocks and inline code, without what a comment says. */
const codeOf = (text: string): string[] =>
  [...(text.match(fences) ?? []).flatMap((block) => block.split('\n')), ...spansOf(text)].map((line) =>
    line.replace(/(^| )#.*$/, '').replace(/;.*$/, ''),
  );

/** Options of every command of `gw`. */
const optionsOf = (command: CommandLine): string[] => [
  ...command.options.map(({ long }) => String(long)),
  ...(command.commands as CommandLine[]).flatMap(optionsOf),
];
const operatorOptions = new Set([...optionsOf(await createProgram(async () => {})), '--help']);

const wordsOf = (line: string): string[] =>
  line
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '…');
/** Stages that a user has: a page may name each. */
const retained = { ...development, removal: 'retain' } as const;
const withStage = (words: readonly string[]) => words.map((word) => (word === 'NAME' ? 'dev' : word));
/** By script: reads the words after its name, and throws at an unknown option. */
const readers: Readonly<Record<string, (words: readonly string[]) => unknown>> = {
  start: (words) => readLocalOptions(words.map((word) => ({ URL: 'http://127.0.0.1:8000', N: '60' })[word] ?? word)),
  deploy: (words) => readDeployOptions(withStage(words), { dev: retained, staging: retained, prod: retained }),
  smoke: (words) => readSmokeArgs(words.includes('--stage') ? words : ['--stage', 'dev', ...words]),
  bench: (words) => readBenchOptions(words),
  gw(words) {
    const unknown = words.filter((word) => /^--\w/.test(word) && !operatorOptions.has(word.replace(/=.*/, '')));
    if (unknown.length > 0) throw new Error(`gw has no option ${unknown.join(', ')}`);
  },
};

describe.each(pages.map(({ path, text }) => [path, text] as const))('%s', (path, text) => {
  it('links to files that are there', () => {
    const pictures = [...text.matchAll(/<img src="([^"]+)"/g)];
    const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ...pictures].map(([, target = '']) => target);
    const missing = targets.filter(
      (target) => !/^https?:/.test(target) && !existsSync(join(projectRoot, dirname(path), target)),
    );
    expect(missing).toEqual([]);
  });

  it('shows pictures that are small, together at most 150 KB', () => {
    const pictures = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, source = '']) => source);
    expect(pictures.filter((source) => !source.endsWith('.png'))).toEqual([]);
    const bytes = pictures.map((source) => statSync(join(projectRoot, dirname(path), source)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150 * 1024);
  });

  it('names scripts that package.json has, with options that they take', () => {
    const problems = codeOf(text).flatMap((line) => {
      const [, run, shortcut, rest = ''] =
        /npm (?:run (?:--silent )?(?!--)([\w:-]+)|(start|test))\b(?: -- ([^|<>"]*))?/.exec(line) ?? [];
      const name = run ?? shortcut;
      if (name === undefined) return [];
      if (scripts[name] === undefined) return [`${line}: there is no script ${name}`];
      // Words in brackets are optional.
      const words = wordsOf(rest.replaceAll(/\[[^\]]*\]/g, ''));
      if (words.length === 0) return [];
      try {
        readers[name]?.(words);
        return [];
      } catch (error) {
        return [`${line}: ${(error as Error).message}`];
      }
    });
    expect(problems).toEqual([]);
  });

  it('names options, fields and names that stand in the code', () => {
    const names = spansOf(text).flatMap((span) => {
      const option = /^(--[\w-]+)/.exec(span)?.[1];
      if (option !== undefined) return [option.slice(2)];
      // snake_case, camelCase and CAPITALS_; a plain word may be anything.
      return /^[A-Za-z][\w.]*$/.test(span) && /[a-z][A-Z]|_/.test(span) ? span.split('.') : [];
    });
    expect(names.filter((name) => !wordsOfTheCode.has(name.toLowerCase()))).toEqual([]);
  });

  it('gives settings of a stage values that they take', () => {
    const refused = spansOf(text).flatMap((span) => {
      const [, member = '', value = ''] = /^(\w+): ('[^']*'|\d+|true|false|null|\[[\d, ]+\])$/.exec(span) ?? [];
      if (!Object.hasOwn(development, member)) return [];
      const settings = {
        ...development,
        removal: 'retain',
        [member]: JSON.parse(value.replaceAll("'", '"')),
      };
      try {
        checkSettings('dev', settings as StageSettings);
        return [];
      } catch (error) {
        return [`${span}: ${(error as Error).message}`];
      }
    });
    expect(refused).toEqual([]);
  });
});

describe('the settings of a stage', () => {
  it('are all in the table of the page on deploying, and nothing else is', () => {
    const page = pages.find(({ path }) => path === 'infra/cdk/README.md')?.text ?? '';
    const section = /^## Settings$([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
    const rows = section.split('\n').filter((line) => /^\| `/.test(line));
    const named = rows.flatMap((line) => spansOf(line.split('|')[1] ?? ''));
    const isMember = (name: string) => {
      if (Object.hasOwn(development, name)) return true;
      // Those that may be left out. Of any other the schema says that there is no such field.
      expect(() => checkSettings('dev', { ...development, [name]: undefined })).not.toThrow();
      return true;
    };
    expect(named.filter((name) => !isMember(name))).toEqual([]);
    expect(Object.keys(development).filter((name) => !named.includes(name))).toEqual([]);
  });
});

describe('the tables of the page on translated formats', () => {
  const page = pages.find(({ path }) => path === 'shared/routing/formats/hub/README.md')?.text ?? '';
  const tableBelow = (title: string): string[][] =>
    (page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').slice(1, -1))
      .map((cells) => cells.map((text) => text.trim()));

  it.each([
    [
      'What clients of chat completions send',
      translatedApis,
      requestFeatures.map(({ feature, cells }) => [feature, cells]),
    ],
    ['What they get', translatedApis, answerFeatures.map(({ feature, cells }) => [feature, cells])],
    [
      'What clients of Messages send',
      columnsOf.messages,
      clientsOfMessages.map(({ feature, becomes }) => [feature, becomes]),
    ],
    [
      'What clients of Responses send',
      columnsOf.responses,
      clientsOfResponses.map(({ feature, becomes }) => [feature, becomes]),
    ],
  ] as [string, readonly string[], [string, Record<string, { says: string }>][]][])(
    'say of each feature and format what is tested, and nothing else: %s',
    (title, columns, rows) => {
      const [head, _line, ...grouped] = tableBelow(title);
      // A row of the page may be of several features, in any order.
      const table = grouped.flatMap(([features = '', ...cells]) => features.split('; ').map((one) => [one, ...cells]));
      expect(head?.slice(1)).toEqual(columns.map((format) => `\`${format}\``));
      const tested = rows.map(([feature, cells]) => [feature, ...columns.map((format) => cells[format]?.says)]);
      const byFeature = (list: readonly (readonly (string | undefined)[])[]) =>
        list.map((row) => row.join(' | ')).toSorted();
      expect(byFeature(table)).toEqual(byFeature(tested));
    },
  );
});
