// The description of the API is complete, and says what shared/errors and shared/foundation/constants say.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { parse } from 'yaml';
import { describe, expect, it } from '#jest';
import { errorColumns, errorRows, memberDescriptions } from '../../infra/openapi/description/index.ts';
import { errorCatalogue } from '../../shared/errors/index.ts';
import {
  configFreshMs,
  connectTimeoutDefaultMs,
  firstChunkTimeoutDefaultMs,
  headerNames,
  idleTimeoutDefaultMs,
  refusalRecordsPerSecond,
  requestBudgetMs,
} from '../../shared/foundation/constants/index.ts';
import { componentSchema, description, faultsOf, operationOf } from './api-description.ts';

const projectRoot = join(import.meta.dirname, '../..');
const print = (...args: string[]): string =>
  execFileSync(process.execPath, ['infra/openapi/main.ts', ...args], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Every object of the document with its keys and values, however deep. */
function* entriesIn(value: unknown): Generator<[string, unknown]> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    yield [name, member];
    yield* entriesIn(member);
  }
}

describe('the description of the API', () => {
  it('is an OpenAPI 3.1 document in which every reference leads somewhere', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(description))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const references = [...entriesIn(description)].filter(([name]) => name === '$ref').map(([, target]) => target);
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      const [, kind, ...rest] = decodeURI(String(reference)).split('/');
      const name = rest.at(-1)?.replaceAll('~1', '/');
      expect(Object.keys(kind === 'paths' ? description.paths : description.components.schemas)).toContain(name);
    }
  });

  it('has every error code with its status, its cause and its solution, and no other code', () => {
    const table = description['x-gw-errors'] as Record<string, Record<string, unknown>>;
    expect(Object.keys(table).toSorted()).toEqual(Object.keys(errorCatalogue).toSorted());
    for (const [code, { status, retry }] of Object.entries(errorCatalogue)) {
      const sentence = expect.stringMatching(/^[A-Z`].{15,}\.$/);
      expect({ code, ...table[code] }).toEqual({ code, status, retry, cause: sentence, solution: sentence });
    }
  });

  it('has every error code but those of operators among the answers of a chat completion, under its own status only', () => {
    const { responses } = operationOf('POST', '/v1/chat/completions');
    const described = Object.entries(responses)
      .filter(([status]) => status !== '200')
      .flatMap(([status, { content }]) =>
        Object.keys(content['application/json']?.examples ?? {}).map((code) => [code, Number(status)]),
      );
    const catalogue = Object.entries(errorCatalogue)
      .filter(([code]) => !['forbidden', 'precondition_failed'].includes(code))
      .map(([code, { status }]) => [code, status]);
    expect(described.toSorted()).toEqual(catalogue.toSorted());
  });

  it('gives examples that satisfy their own schemas', () => {
    const contents = [...entriesIn(description)].filter(([name]) => name === 'application/json');
    const examples = contents.flatMap(([, content]) => {
      const { schema, examples = {} } = content as { schema: Json; examples?: Record<string, { value: unknown }> };
      return Object.values(examples).map(({ value }) => ({ schema, value }));
    });
    expect(examples.length).toBeGreaterThan(40);
    expect(examples.flatMap(({ schema, value }) => faultsOf(schema, value))).toEqual([]);
  });

  it('refuses an error code that does not exist', () => {
    const envelope = { error: 'no_such_code', message: '', correlation_id: '019a2f0e-7c1b-7e55-9d0a-3f1d2c4b5a69' };
    expect(faultsOf(componentSchema('Error'), envelope)).not.toEqual([]);
  });

  it('names every header that the gateway reads or writes, but those that no client sends', () => {
    const text = JSON.stringify(description.paths);
    const missing = Object.values(headerNames).filter((name) => !text.includes(`"${name}"`));
    expect(missing).toEqual([headerNames.authorization, headerNames.originSecret]);
  });

  it('says of every member of the request body what it means, and of no other', () => {
    const paths = [...memberPaths(description.components.schemas.ChatCompletionRequest, '')];
    expect(paths.toSorted()).toEqual(Object.keys(memberDescriptions).toSorted());
  });

  it('is printed as JSON and as YAML, for the server that is asked for', () => {
    expect(JSON.parse(print())).toEqual(description);
    const other = { ...description, servers: [{ url: 'https://gw.example' }] };
    expect(parse(print('--yaml', '--server', 'https://gw.example'))).toEqual(other);
  });

  it('is shown by its page, error by error', () => {
    const table = tableIn(section('Every error'));
    expect(table).toEqual([[...errorColumns], ...errorRows()]);
    expect(tableIn(print('--errors'))).toEqual(table);
  });

  it('is not contradicted by the pages on bounds: they have the numbers of the constants', () => {
    const seconds = (ms: number) => `${ms / 1_000} s`;
    const security = readFileSync(join(projectRoot, 'shared/protocol/http/README.md'), 'utf8');
    for (const words of [
      `${seconds(connectTimeoutDefaultMs)} to connect, ${seconds(idleTimeoutDefaultMs)} between parts`,
      `${seconds(firstChunkTimeoutDefaultMs)} for a stream`,
      `${seconds(requestBudgetMs)} from its arrival`,
      `${refusalRecordsPerSecond} in a second, for each key and process`,
    ])
      expect(security).toContain(words);
    const chat = readFileSync(join(projectRoot, 'functions/gateway/README.md'), 'utf8');
    expect(chat).toContain(`are read again after ${seconds(configFreshMs)}:`);
    expect(chat).toContain(`at most ${refusalRecordsPerSecond} in any second`);
  });

  it('names one code for each cause of a 402, and no code of a 402 is missing', () => {
    const [, ...causes] = tableIn(section('Which 402'));
    const codes = causes.map(([, plain = '', ofFunction = '']) => [plain, ofFunction].filter((cell) => cell !== ''));
    for (const cells of codes) for (const cell of cells) expect(cell).toMatch(/^`\w+`$/);
    const known = Object.entries(errorCatalogue).filter(([, { status }]) => status === 402);
    expect([...new Set(codes.flat())].toSorted()).toEqual(known.map(([code]) => `\`${code}\``).toSorted());
  });
});

/** Paths of all members below, as the description writes them. */
function* memberPaths(schema: Json | undefined, path: string): Generator<string> {
  yield path;
  for (const branch of (schema?.anyOf as Json[] | undefined) ?? [schema]) {
    const { properties = {}, items } = branch as { properties?: Record<string, Json>; items?: Json };
    if (items !== undefined) yield* memberPaths(items, `${path}[]`);
    for (const [name, member] of Object.entries(properties)) {
      yield* memberPaths(member, path === '' ? name : `${path}.${name}`);
    }
  }
}

/** The cells of a Markdown table, the line of dashes left out; the formatter may have aligned them. */
function section(title: string): string {
  const page = readFileSync(join(projectRoot, 'infra/openapi/README.md'), 'utf8');
  return page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
}

const tableIn = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|-]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
