// Settings, options, commands, names and numbers in the pages are compared with the code. A page with a new name needs
// no change here.
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
import { projectRoot, readMarkdownFiles, readSourceFiles } from '../support/source-files.ts';

const sources = readSourceFiles(['shared', 'functions', 'infra']);
const pages = readMarkdownFiles(['shared', 'functions', 'infra', 'test']);
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
/** Returns the anchors of a page's headings, as GitHub makes them. */
const headingsOf = (page: string): string[] =>
  [...page.replaceAll(fences, '').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
/** Returns the lines of code blocks and inline code, without comments. */
const codeOf = (text: string): string[] =>
  [...(text.match(fences) ?? []).flatMap((block) => block.split('\n')), ...spansOf(text)].map((line) =>
    line.replace(/(^| )#.*$/, '').replace(/;.*$/, ''),
  );

/** Returns the options of every command of `gw`. */
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
/** A user's stages keep their data; a page may name each of them. */
const retained = { ...development, removal: 'retain' } as const;
const withStage = (words: readonly string[]) => words.map((word) => (word === 'NAME' ? 'dev' : word));
/** Readers by script: each reads the words after the script's name, and throws at an unknown option. */
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
  it('links to files, and headings of pages, that are there', () => {
    const pictures = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, source = '']) => source);
    const links = [...text.replaceAll(fences, '').matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target = '']) => target);
    const missing = [...links, ...pictures].filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', heading] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(projectRoot, target))) return true;
      if (heading === undefined) return false;
      return !headingsOf(readFileSync(join(projectRoot, target), 'utf8')).includes(heading);
    });
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

  it('names options, fields and names that are in the code', () => {
    const names = spansOf(text).flatMap((span) => {
      const option = /^(--[\w-]+)/.exec(span)?.[1];
      if (option !== undefined) return [option.slice(2)];
      // Names are in snake_case, camelCase or CAPITALS_; a plain word may be anything. Pages about clients name
      // settings of other programs.
      if (path.startsWith('test/clients/')) return [];
      return /^[A-Za-z][\w.]*$/.test(span) && /[a-z][A-Z]|_/.test(span) ? span.split('.') : [];
    });
    expect(names.filter((name) => !wordsOfTheCode.has(name.toLowerCase()))).toEqual([]);
  });

  it('gives settings of a stage values that they take', () => {
    const refusedSpans = spansOf(text).flatMap((span) => {
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
    expect(refusedSpans).toEqual([]);
  });
});

describe('the settings of a stage', () => {
  it('are each explained in the schema that the page on deploying names', () => {
    const page = pages.find(({ path }) => path === 'infra/cdk/README.md')?.text ?? '';
    expect(page).toContain('](settings-schema.ts)');
    const schema = readFileSync(join(projectRoot, 'infra/cdk/settings-schema.ts'), 'utf8');
    const explained = new Set([...schema.matchAll(/\*\/\n {2}(?:readonly )?(\w+)\??:/g)].map(([, name = '']) => name));
    expect(Object.keys(development).filter((name) => !explained.has(name))).toEqual([]);
  });
});

describe('the index of README.md', () => {
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? '';
  const [, index = ''] = readme.split('\n## I want to …\n');

  it.each([
    ['Azure', 'Ollama', 'OpenAI-compatible'],
    ['Cursor', 'Claude Code', 'Open WebUI', 'LangChain'],
    ['rotate a key', 'who spent what', 'upgrade', 'restore'],
    ['Okta', 'Entra', 'Google', 'Keycloak'],
    ['proxy', 'private authority', 'LiteLLM', 'Kubernetes', 'error means'],
  ])('has what people come for, one click away: %s, …', (...subjects) => {
    const lines = index.split('\n');
    for (const subject of subjects) {
      const line = lines.find((one) => one.includes(subject)) ?? '';
      expect([subject, line]).toEqual([subject, expect.stringMatching(/\]\([^)]+\)/)]);
    }
  });
});
