// The uploaded bundles as they are built: their files, and what they do when they are loaded and started.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  buildBundles,
  bundleEntries,
  bundleMaxBytes,
  containerMaxBytes,
  functionNames,
} from '../../infra/build/bundle.ts';
import { noticesFile, noticesOf } from '../../infra/build/notices.ts';
import { onDemand } from '../../infra/build/on-demand.ts';
import { pageMaxBytes, writePage } from '../../infra/build/page.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { ChangeFailed } from '../../shared/configuration/administration/index.ts';
import { environmentNames, rootPaths } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Bundle, type BundleName, builtBundles } from '../support/built-bundles.ts';
import { type DynamoTestStore, describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { copiedByImage, imageInstructions } from '../support/image-files.ts';
import { operatorOf } from '../support/operator-requests.ts';
import {
  chunkEvent,
  completionOf,
  type ScriptedProvider,
  sendJson,
  startScriptedProvider,
} from '../support/scripted-provider.ts';
import { awsError, startScriptedServer } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { eventually } from '../support/watched-clock.ts';
import { synthesizeStage } from './synthesized-stage.ts';
import { startTask, type Task, taskContainerOf } from './task-process.ts';

const server = "import { createServer } from 'node:net'; createServer().listen(0);";

/** Returns a source tree in which both functions have this handler. */
const sourcesWith = async (handler: string, container = server): Promise<string> => {
  const root = temporaryFolder();
  for (const entry of bundleEntries) {
    const file = join(root, entry);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, entry.endsWith('container/main.ts') ? container : handler);
  }
  const page = join(root, 'functions/operator/page');
  await mkdir(page);
  for (const name of ['main.tsx', 'main.css', 'icon.svg', 'index.html']) await writeFile(join(page, name), '');
  await mkdir(join(root, 'infra/local'), { recursive: true });
  await writeFile(join(root, 'infra/local/Dockerfile'), '');
  return root;
};

const { api } = synthesizeStage('prod', { compute: 'container', console: true, consoleSharesTaskRole: true });
const container = taskContainerOf(api.toJSON());

const residentMib = ({ pid }: Task): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024;

const callsProviders = (name: BundleName): boolean => name === 'gateway' || name === 'container';

/** Returns the packages with code in one file whose names match. */
async function packagesIn(output: string, bundle: BundleName, file: string, pattern: RegExp): Promise<string[]> {
  const text = await readFile(join(output, 'meta', bundle, `${basename(file)}.metafile.json`), 'utf8');
  const [{ inputs }] = Object.values(JSON.parse(text).outputs).filter((part) => 'entryPoint' in (part as object)) as [
    { inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> },
  ];
  const included = Object.keys(inputs).filter((path) => (inputs[path]?.bytesInOutput ?? 0) > 0);
  const found = included.flatMap((path) => pattern.exec(path)?.[0] ?? []);
  return [...new Set(found)].toSorted();
}

/** Loads the files that Lambda loads, in the environment of its runtime, and sends one event for each path. */
async function invokeEach(
  file: string,
  paths: readonly string[],
): Promise<{ path: string; status: number; bytes: number }[]> {
  const ask = `
    import { PassThrough } from 'node:stream';
    globalThis.awslambda = {
      streamifyResponse: (handler) => async (event, context) => {
        const stream = new PassThrough();
        const body = new Response(stream).text();
        await handler(event, stream, context);
        return { statusCode: stream.prelude.statusCode, body: await body };
      },
      HttpResponseStream: { from: (stream, prelude) => Object.assign(stream, { prelude }) },
    };
    const { handler } = await import(process.argv[1]);
    const answers = [];
    for (const path of process.argv.slice(2)) {
      const [method, rawPath] = path.startsWith('/') ? ['GET', path] : path.split(' ');
      const http = { method };
      const event = { rawPath, rawQueryString: '', headers: {}, requestContext: { http, timeEpoch: Date.now() } };
      const { statusCode: status, body } = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
      answers.push({ path, status, bytes: body.length });
    }
    console.log('ANSWERS ' + JSON.stringify(answers));
    process.exit(0);`;
  const env = {
    ...{ [environmentNames.stage]: 'build', AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' },
    ...{ AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' },
  };
  const words = ['--input-type=module', '--eval', ask, file, ...paths];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env, cwd: dirname(file) });
  return JSON.parse(/^ANSWERS (.*)$/m.exec(stdout)?.[1] ?? '[]');
}

/** Returns a folder with the files that the Dockerfile copies into the image of tasks. */
const imageOf = async (folder: string): Promise<string> =>
  copiedByImage(imageInstructions(await readFile(join(folder, 'Dockerfile'), 'utf8'), 'container'), folder);

let output: string;
let bundles: readonly Bundle[];
beforeAll(async () => {
  ({ output, bundles } = await builtBundles());
});

describe('the build of the project', () => {
  it('bundles everything small enough, ready to load, with nothing else in the folders that are uploaded', async () => {
    expect(bundles.map(({ name }) => name)).toEqual(['gateway', 'models', 'operator', 'container']);
    /** Interfaces whose grammar the gateway loads at once, in a function and in a task. */
    const translatedFormats = ['chat-completions', 'converse', 'generate-content', 'messages', 'responses'];
    const readOnDemand = ['embeddings', 'images', 'moderations', 'rerank', 'speech', 'transcriptions'];
    const ofGateway = [
      ...[...translatedFormats, ...readOnDemand].map((name) => `${name}-grammar.cjs`),
      ...translatedFormats.map((name) => `${name}-translation.cjs`),
      noticesFile,
      'account.cjs',
      'alerts.cjs',
      'attempt-spans.cjs',
      'audio-length.cjs',
      'bedrock-guardrail.cjs',
      'chat-completions-target.cjs',
      'conclude.cjs',
      'converse-target.cjs',
      'converse.cjs',
      'embeddings.cjs',
      'forms.cjs',
      'generate-content-target.cjs',
      'generate-content.cjs',
      'google-tokens.cjs',
      'guardrails.cjs',
      'hub.cjs',
      'images.cjs',
      'index.cjs',
      'invoke.cjs',
      'keep-content.cjs',
      'kms-calls.cjs',
      'messages-target.cjs',
      'model-listing.cjs',
      'moderations.cjs',
      'other-delivery.cjs',
      'openapi.json',
      'rerank.cjs',
      'responses-target.cjs',
      'responses.cjs',
      's3-objects.cjs',
      'schema-check.cjs',
      'schema-worker.cjs',
      'speech.cjs',
      'stored-function.cjs',
      'stored-response.cjs',
      'telemetry.cjs',
      'text-guardrail.cjs',
      'transcriptions.cjs',
      'vertex-target.cjs',
    ];
    const uploaded = {
      gateway: [...ofGateway, 'index.mjs'].toSorted(),
      models: [noticesFile, 'index.cjs', 'index.mjs', 'telemetry.cjs'],
      operator: [
        noticesFile,
        'gateway-file.cjs',
        'index.cjs',
        'index.mjs',
        'model-list.cjs',
        'page',
        's3-objects.cjs',
        'schema-check.cjs',
        'schema-worker.cjs',
        'telemetry.cjs',
      ],
      container: [
        'Dockerfile',
        ...ofGateway,
        'gateway-file.cjs',
        'model-list.cjs',
        'page',
        'prometheus.cjs',
      ].toSorted(),
    };
    for (const { name, file, bytes, beside } of bundles) {
      expect(file).toBe(join(output, name, 'index.cjs'));
      expect((await readdir(dirname(file))).toSorted()).toEqual(uploaded[name]);
      const maxBytes = name === 'container' ? containerMaxBytes : bundleMaxBytes;
      for (const size of [bytes, ...Object.values(beside)]) expect(size).toBeLessThan(maxBytes);
    }
  });

  it('builds the page of the console: hashed names, nothing inline or from elsewhere, at most 150 KB compressed', async () => {
    const page = bundles.find(({ name }) => name === 'operator')?.page ?? {};
    const withoutHashes = Object.keys(page).map((name) => name.replace(/-[0-9A-Z]{8}\./, '-HASH.'));
    expect(withoutHashes.toSorted()).toEqual([
      noticesFile,
      'icon-HASH.svg',
      'index.html',
      'main-HASH.css',
      'main-HASH.js',
    ]);
    expect(Object.values(page).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(pageMaxBytes);
    expect(pageMaxBytes).toBe(150 * 1024);
    const files = await Promise.all(
      Object.keys(page).map((name) => readFile(join(output, 'operator/page', name), 'utf8')),
    );
    const fileNames = files.map((text) =>
      [...text.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name),
    );
    expect(fileNames.flat().toSorted()).toEqual(
      Object.keys(page)
        .filter((name) => name !== 'index.html')
        .toSorted(),
    );
    const index = await readFile(join(output, 'operator/page/index.html'), 'utf8');
    expect(index).not.toMatch(/<style|<script(?![^>]* src=)| on\w+=| style=|https?:/);
    // Names of XML namespaces are no addresses, and no browser opens the addresses in the notices.
    const code = files.filter((_text, index) => Object.keys(page)[index] !== noticesFile);
    const addresses = code.flatMap((text) =>
      [...text.matchAll(/https?:\/\/(?!www\.w3\.org\/)[\w.]+/g)].map(([url]) => url),
    );
    expect(addresses).toEqual([]);
  });

  it('says beside each bundle, and where browsers find it, whose code is in it and under which terms', async () => {
    for (const { name } of bundles) {
      const meta = join(output, 'meta', name);
      const files = (await readdir(meta)).flatMap((file) => /^(.*)\.metafile\.json$/.exec(file)?.[1] ?? []);
      const found = files.map((file) =>
        packagesIn(output, name, file, /(?<=.*node_modules\/)(?:@[^/]+\/)?[^/]+(?=\/(?!.*node_modules\/))/),
      );
      const packages = new Set((await Promise.all(found)).flat());
      const notices = await readFile(join(output, name, noticesFile), 'utf8');
      const noticeNames = new Set(
        [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \([\w.-]+\)$/gm)].map(([, name]) => name),
      );
      expect(packages.size).toBeGreaterThan(5);
      expect([name, [...noticeNames].toSorted()]).toEqual([name, [...packages].toSorted()]);
      expect(notices).toMatch(/^ *Apache License$/m);
    }
    const page = await readFile(join(output, 'operator/page', noticesFile), 'utf8');
    const { dependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'));
    for (const name of ['preact', 'uplot']) expect(page).toContain(`${name} ${dependencies[name]} (MIT)\n\n`);
    expect(page).toMatch(/Copyright \(c\) \d+-present Jason Miller/);
    expect(page).not.toContain('@aws-sdk');
  });

  it("refuses a package whose licence was not judged, and one without its licence's text", async () => {
    const root = temporaryFolder();
    const notices = async (license: string) => {
      const folder = join(root, 'node_modules/other');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'other', version: '1.0.0', license }));
      const inputs = { [join(folder, 'index.js')]: { bytesInOutput: 1 } };
      return noticesOf([{ inputs: {}, outputs: { 'a.js': { inputs, bytes: 1, imports: [], exports: [] } } }]);
    };
    await expect(notices('AGPL-3.0')).rejects.toThrow('other has the licence AGPL-3.0; accepted: MIT, ');
    await expect(notices('ISC')).rejects.toThrow('other brings no text of its licence ISC');
    expect(await notices('MIT')).toContain('Copyright (c) the authors of other\n\nPermission is hereby granted');
  });

  it('refuses a page that is too large', async () => {
    const sources = await sourcesWith('export const handler = () => {}; export const prepare = () => {};');
    const noise = randomBytes(pageMaxBytes).toString('hex');
    await writeFile(join(sources, 'functions/operator/page/main.tsx'), `document.title = '${noise}';`);
    await expect(writePage(sources, temporaryFolder())).rejects.toThrow(/bytes compressed, 153600 are allowed/);
  });

  it('brings the clients that a function calls, those of S3 and KMS in files that it can load from beside the index', async () => {
    const clients = (name: BundleName, file: string) => packagesIn(output, name, file, /@aws-sdk\/client-[a-z0-9-]+/);
    for (const { name, file } of bundles) {
      // Every function reads the accepted origins.
      expect(await clients(name, file)).toEqual(['@aws-sdk/client-dynamodb', '@aws-sdk/client-secrets-manager']);
      if (!callsProviders(name)) continue;
      expect(await readFile(file, 'utf8')).toContain('require("./s3-objects.cjs")');
      expect(await clients(name, 's3-objects.cjs')).toEqual(['@aws-sdk/client-s3']);
      const { createS3Objects } = await import(join(dirname(file), 's3-objects.cjs'));
      expect(createS3Objects).toBeInstanceOf(Function);
      expect(await clients(name, 'kms-calls.cjs')).toEqual(['@aws-sdk/client-kms']);
      const { createKmsCalls } = await import(join(dirname(file), 'kms-calls.cjs'));
      expect(createKmsCalls).toBeInstanceOf(Function);
    }
  });

  it('keeps what sends traces in a file that a function loads from beside the index, if telemetry is on', async () => {
    for (const { file } of bundles) {
      const text = await readFile(file, 'utf8');
      expect(text).toContain('require("./telemetry.cjs")');
      expect(text).not.toContain('resourceSpans');
      const { createExporter } = await import(join(dirname(file), 'telemetry.cjs'));
      expect(createExporter).toBeInstanceOf(Function);
    }
  });

  it('keeps the packages of other formats in a file for each, loaded by the one that translates, ready to work', async () => {
    const usage = { input_tokens: 1, output_tokens: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const content = [{ type: 'text', text: 'Hello.' }];
    const answers = {
      messages: [
        'anthropic',
        { id: 'm', type: 'message', model: 'c', role: 'assistant', content: content, stop_reason: 'end_turn', usage },
      ],
      responses: ['openai', { id: 'r', model: 'g', output: [{ type: 'message', content: content }] }],
      'chat-completions': [
        'openai-compatible',
        { choices: [{ message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }] },
      ],
      converse: [
        'amazon-bedrock',
        { output: { message: { role: 'assistant', content: content } }, stopReason: 'end_turn', usage },
      ],
      'generate-content': ['google', { candidates: [{ content: { parts: content }, finishReason: 'STOP' }] }],
    } as const;
    for (const { name, file } of bundles) {
      const found = (bundled: string) => packagesIn(output, name, bundled, /@ai-sdk\/[a-z-]+/);
      expect([name, await found(basename(file))]).toEqual([name, []]);
      if (!callsProviders(name)) continue;
      expect(await readFile(file, 'utf8')).toContain('require("./hub.cjs")');
      expect(await found('hub.cjs')).toEqual(['@ai-sdk/provider']);
      const { callThroughHub } = await import(join(dirname(file), 'hub.cjs'));
      const { chatSource: source } = await import(join(dirname(file), 'chat-completions-translation.cjs'));
      for (const [api, [packageName, answer]] of Object.entries(answers)) {
        const bundled = `${api}-target.cjs`;
        expect(await found(bundled)).toContain(`@ai-sdk/${packageName}`);
        // Messages of zod in other languages would be half of the file.
        expect(await readFile(join(dirname(file), bundled), 'utf8')).not.toContain('Entrée invalide');
        const readText = async () => JSON.stringify(answer);
        const bytes = (async function* () {})();
        const send = async () => ({
          kind: 'answer',
          isStream: false,
          readText,
          body: bytes,
          drain: () => {},
          onEvent: () => {},
        });
        const body = { messages: [{ role: 'user', content: 'Hi.' }] };
        const size = { maxOutputTokens: 10, isOutputOpen: false };
        const requests = {
          source,
          api,
          body,
          characters: 0,
          stream: false,
          size,
          id: 'a',
          leftOut: [],
          envelopes: { seal: () => '', open: () => undefined },
        };
        const hubAnswer = await callThroughHub(
          requests,
          {
            model: { id: 'm' },
            entry: { upstream_model: 'm', max_output_tokens: 10 },
            provider: { id: 'p', reasoning_style: 'effort' },
          },
          send,
        );
        expect(JSON.parse(hubAnswer.answer.text).choices[0].message.content).toBe('Hello.');
      }
    }
  });

  it('answers every path that needs no key from the files of each zip alone, away from the project', async () => {
    const { landing, health, hello, openapi, console } = rootPaths;
    const page = await readdir(join(output, 'operator', 'page'));
    const ofPage = [console, ...page.map((name) => `${console}/${name}`), `${console}/settings.json`];
    const servedPaths = {
      gateway: [landing, health, hello, openapi],
      models: [landing, health, hello],
      operator: [landing, health, hello, ...ofPage],
    };
    // Every path is listed, so this test also calls a path that is added later.
    expect(new Set([...Object.values(servedPaths).flat(), rootPaths.consoleFile])).toEqual(
      new Set([...Object.values(rootPaths), ...ofPage]),
    );
    for (const name of functionNames) {
      const zip = temporaryFolder();
      await cp(join(output, name), zip, { recursive: true });
      // The code for these paths is loaded with the first call, which needs an API key.
      const loaded = name === 'gateway' ? ['/v1/key', 'POST /v1/responses', 'POST /v1/embeddings'] : [];
      const paths = [...servedPaths[name], ...loaded, '/v1/models', '/console/index.cjs'];
      const answers = await invokeEach(join(zip, 'index.mjs'), paths);
      const [keyless, others] = [answers.slice(0, servedPaths[name].length), answers.slice(servedPaths[name].length)];
      expect(keyless.filter(({ status, bytes }) => status !== 200 || bytes === 0)).toEqual([]);
      // No code file is served as a file of the page.
      const refusalStatuses = [...loaded.map(() => 401), name === 'operator' ? 404 : 401, 404];
      expect(others.map(({ status }) => status)).toEqual(refusalStatuses);
    }
  });

  describeOnDynamo('on a stage', () => {
    it('replaces the configuration from the bundle of the operator function, and refuses as the sources do', async () => {
      const testStore = await startDynamoTestStore();
      const gateway = await startHarness({
        testStore,
        models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
        workspace: { functions: [promptFunction('label', 'acme/echo')] },
      });
      try {
        const ada = await operatorOf(gateway, 'ada');
        const { response, body: text } = await ada.get('/configuration');
        const etag = response.headers.get('etag') ?? '';
        // biome-ignore lint/suspicious/noExplicitAny: a gateway file, of which each case changes a field.
        const fileWith = (change: (team: any) => void): string => {
          const file = parse(text);
          change(file.workspaces.find(({ id }: { id: string }) => id === 'team'));
          return stringify(file);
        };
        const schema = { type: 'nothing' };
        const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } };
        const unusable = fileWith(({ functions: [{ revisions }] }) => {
          revisions.push({ ...revisions[0], id: 'r9', state: 'draft', response_format });
        });
        const good = fileWith((team) => {
          team.concurrency = 7;
        });
        const requests: readonly (readonly [string, string?, string?])[] = [
          [good],
          [unusable, etag],
          [good, etag, 'dry_run=true'],
          [good, etag],
        ];
        const ask = `
        const event = ([body, match, query = '']) => ({ rawPath: '/v1/manage/configuration', rawQueryString: query, body, isBase64Encoded: false,
          headers: { authorization: process.argv[2], ...(match === undefined ? {} : { 'if-match': match }) },
          requestContext: { http: { method: 'PUT' }, timeEpoch: Date.now() } });
        const { handler } = await import(process.argv[1]);
        const answers = [];
        for (const one of JSON.parse(process.argv[3])) answers.push(await handler(event(one), {}));
        console.log('ANSWERS ' + JSON.stringify(answers.map(({ statusCode, body }) => [statusCode, JSON.parse(body)])));
        process.exit(0);`;
        const env = {
          ...{
            [environmentNames.stage]: testStore.stage,
            AWS_REGION: 'us-east-1',
            AWS_EC2_METADATA_DISABLED: 'true',
          },
          ...{ AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' },
          AWS_ENDPOINT_URL_DYNAMODB: testStore.endpoint,
        };
        const bundle = join(output, 'operator', 'index.mjs');
        const words = ['--input-type=module', '--eval', ask, bundle, `Bearer ${ada.key}`, JSON.stringify(requests)];
        const { stdout } = await promisify(execFile)(process.execPath, words, { env });
        // biome-ignore lint/suspicious/noExplicitAny: answers of two shapes.
        const answers: [number, any][] = JSON.parse(/^ANSWERS (.*)$/m.exec(stdout)?.[1] ?? '[]');
        const outcomes = answers.map(([status, { error, message = '' }]) => [status, error, message]);
        const place = /^workspaces\[\d\]\.functions\[0\]\.revisions\[\d\]\.response_format\S*: /;
        expect(outcomes).toEqual([
          [412, 'precondition_failed', expect.stringContaining('If-Match is required')],
          [400, 'invalid_request', expect.stringMatching(place)],
          [200, undefined, ''],
          [200, undefined, ''],
        ]);
        for (const at of [2, 3]) {
          expect(answers[at]?.[1].data.changes).toEqual([
            { resource: 'workspace team', change: 'changed', members: [{ path: 'concurrency', to: 7 }] },
          ]);
        }
        expect((await ada.get('/configuration')).body).toContain('concurrency: 7');
      } finally {
        await gateway.stop();
      }
    });
  });

  it('writes the description of the interface beside those that serve it, and bundles none of it', async () => {
    for (const { name, file } of bundles) {
      // The text is a solution in the table of errors.
      expect(await readFile(file, 'utf8')).not.toContain('Correct what');
      if (!callsProviders(name)) continue;
      const text = await readFile(join(dirname(file), 'openapi.json'), 'utf8');
      expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
    }
  });

  it('keeps the validator of JSON schemas in a file that a function loads from beside the index, ready to work', async () => {
    for (const { name, file } of bundles) {
      const validators = (bundled: string) => packagesIn(output, name, bundled, /@cfworker\/json-schema/);
      expect(await validators(basename(file))).toEqual([]);
      if (!callsProviders(name)) continue;
      expect(await readFile(file, 'utf8')).toContain('require("./schema-check.cjs")');
      expect(await validators('schema-check.cjs')).toEqual(['@cfworker/json-schema']);
      const { answerCheck } = await import(join(dirname(file), 'schema-check.cjs'));
      const limits = { maxMs: 1_000, patternWeightMax: 1 };
      const kindOf = (text: string) => answerCheck({ type: 'integer' }, text, limits).value.kind;
      expect([kindOf('1'), kindOf('"one"')]).toEqual(['valid', 'invalid']);
    }
  });

  it('knows a change that a file loaded on demand refuses, and takes no fault of it for one', async () => {
    const { planListUpdate } = createRequire(import.meta.url)(join(output, 'operator', 'gateway-file.cjs'));
    const errorOf = (read: () => unknown) => planListUpdate({ read }, ['acme/none']).catch((error: unknown) => error);
    const refusal = await errorOf(async () => undefined);
    expect(refusal).toBeInstanceOf(ChangeFailed);
    expect(refusal).toMatchObject({ failure: 'absent', param: 'models' });
    expect(await errorOf(() => Promise.reject(new TypeError('no answer')))).not.toBeInstanceOf(ChangeFailed);
  });

  it('puts the thread that checks schemas beside the code that starts it, ready to work', async () => {
    for (const [name, main] of [
      ['gateway', 'index.cjs'],
      ['operator', 'index.cjs'],
      ['container', 'index.cjs'],
    ] as const) {
      expect(await readFile(join(output, name, main), 'utf8')).toContain('"schema-worker.cjs"');
      const worker = new Worker(join(output, name, 'schema-worker.cjs'));
      worker.postMessage(JSON.stringify({ kind: 'schema', schema: { type: 'strin' }, maxMs: 1_000 }));
      expect((await once(worker, 'message'))[0]).toMatchObject({
        value: { message: expect.stringContaining('at /type') },
      });
      await worker.terminate();
    }
  });

  it('reads what every call needs while Lambda loads it, and loads although nothing answers', async () => {
    for (const name of functionNames) {
      const refusing = await startScriptedServer([awsError(400, 'ValidationException')]);
      const env = {
        ...{ [environmentNames.stage]: 'build', AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' },
        ...{ AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' },
        AWS_ENDPOINT_URL_DYNAMODB: refusing.endpoint,
      };
      const load = `
        globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: {} };
        import(process.argv[1]).then(({ handler }) => process.exit(typeof handler === 'function' ? 0 : 1));`;
      await promisify(execFile)(process.execPath, ['--eval', load, join(output, name, 'index.mjs')], { env });
      expect(refusing.operations()).toContain('GetItem');
      await refusing.stop();
    }
  });

  it('finds credentials in variables and containers, and brings nothing that could look elsewhere', async () => {
    for (const { name, file } of bundles) {
      expect(await packagesIn(output, name, file, /@(aws-sdk|smithy)\/credential-provider-[a-z-]+/)).toEqual([
        '@aws-sdk/credential-provider-env',
        '@aws-sdk/credential-provider-http',
      ]);
    }
  });
});

/**
 * The process of a task runs the files of its image, in the environment of the template, without a container around it.
 */
describeOnDynamo('the process of a task', () => {
  let testStore: DynamoTestStore;
  const inFlight = 20;
  let harness: Harness;
  let image: string;
  let holdingProvider: ScriptedProvider;
  /** Ends the answers of calls that wait for their provider. */
  const ends: (() => void)[] = [];
  const call = (task: Task, model: string, stream = false) =>
    fetch(`${task.url}/chat/completions`, {
      method: 'POST',
      headers: { ...task.headers, authorization: `Bearer ${harness.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(hello(model, { stream })),
    });
  beforeAll(async () => {
    image = await imageOf(join(output, 'container'));
    testStore = await startDynamoTestStore();
    holdingProvider = await startScriptedProvider((outgoing, call) => {
      if (!holdingProvider.bodies[call]?.includes('"stream":true')) {
        ends.push(() => sendJson(outgoing, completionOf({ content: 'Done.' })));
        return;
      }
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunkEvent({ content: 'Do' }));
      ends.push(() => outgoing.end(`${chunkEvent({ content: 'ne.' })}${chunkEvent({}, 'stop')}data: [DONE]\n\n`));
    });
    harness = await startHarness({
      testStore,
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'acme/failing': [{ provider: 'acme', upstream: 'error-500' }],
        'held/model': [{ provider: 'held', upstream: 'm' }],
      },
      providers: { held: { base_url: holdingProvider.url }, acme: { apis: ['chat-completions', 'responses'] } },
      workspace: { functions: [promptFunction('label', 'acme/echo')] },
      key: { concurrency: inFlight, rpm: 1_000, spend_limit_usd: '1000.00' },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await holdingProvider.stop();
  });
  const start = (storeUrl = testStore.endpoint) =>
    startTask({ container, folder: image, storeUrl, stage: testStore.stage });

  it('serves every route to requests through the edge, is healthy for all, and ends with SIGTERM, its lines written', async () => {
    const task = await start();
    const statusOf = async (path: string, headers = {}) => (await fetch(task.origin + path, { headers })).status;
    expect(await statusOf('/health')).toBe(200);
    expect(await statusOf('/v1/models')).toBe(404);
    expect(await statusOf('/v1/models', task.headers)).toBe(401);
    expect(await statusOf('/v1/manage/session', task.headers)).toBe(401);
    // Scrapers read each task at a port of its own, which serves nothing else; a request through the edge reaches
    // another task each time.
    expect(await statusOf('/metrics', task.headers)).toBe(404);
    const scraped = await fetch(`${task.metricsOrigin}/metrics`);
    expect([scraped.status, await scraped.text()]).toEqual([200, expect.stringContaining('\ngw_calls_in_flight 0\n')]);
    for (const path of ['/health', '/v1/models', '/console']) {
      expect([path, (await fetch(task.metricsOrigin + path, { headers: task.headers })).status]).toEqual([path, 404]);
    }
    const { consoleFile, ...keyless } = rootPaths;
    const page = (await readdir(join(output, 'container', 'page'))).map((name) => consoleFile.replace('**', name));
    for (const path of [...Object.values(keyless), ...page]) {
      expect([path, await statusOf(path, task.headers)]).toEqual([path, 200]);
    }
    const description = await fetch(`${task.origin}/openapi.json`, { headers: task.headers });
    expect(await description.json()).toMatchObject({ openapi: '3.1.0' });
    expect(await task.stop()).toBe(0);
    expect(task.lines.map(({ event }) => event)).toContain('stopping');
    expect(task.lines.filter(({ event }) => event === 'request').length).toBeGreaterThan(3);
  });

  it('that has to stop with calls in flight ends all of them, its totals are exact, and every slot is free for the next one', async () => {
    const task = await start();
    const calls: Promise<Response>[] = [];
    // The calls start one after the other, because a busy machine could refuse one of many simultaneous calls.
    for (let at = 0; at < inFlight; at += 1) {
      calls.push(call(task, 'held/model', at % 2 === 1));
      await eventually(() => ends.length === calls.length);
    }
    const stopped = task.stop();
    await eventually(() => task.lines.some(({ event }) => event === 'stopping'));
    for (const end of ends) void end();
    for (const [at, answer] of (await Promise.all(calls)).entries()) {
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(text).toContain('"finish_reason":"stop"');
      expect(text).not.toContain('"error"');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(at % 2 === 1);
    }
    expect(await stopped).toBe(0);
    expect(await expectBalancedBooks(harness)).toBeGreaterThan(0n);
    expect(await harness.records()).toHaveLength(inFlight);
    for (const table of ['keys', 'ledger'] as const) {
      for await (const item of harness.testStore.store.scan(table)) expect(Number(item.balance_slots ?? 0)).toBe(0);
    }
    const next = await start();
    const following = await call(next, 'acme/echo');
    expect([following.status, await following.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
    expect(await next.stop()).toBe(0);
    await expectBalancedBooks(harness);
  });

  it('answers with code that is loaded on demand, and refuses with its errors as with those of every call', async () => {
    const task = await start();
    const ask = async (path: string, body?: object) => {
      const answer = await fetch(task.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...task.headers, authorization: `Bearer ${harness.key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const { object, error } = (await answer.json()) as { object?: string; error?: string };
      return [answer.status, error ?? object];
    };
    const functionCall = (id: string) => ask('/chat/completions', hello(`gw/function/${id}`));
    expect(await functionCall('label')).toEqual([200, 'chat.completion']);
    expect(await functionCall('none')).toEqual([404, 'function_not_found']);
    expect(await ask('/responses', { model: 'acme/echo', input: 'Hi.' })).toEqual([200, 'response']);
    expect(await ask('/responses', { model: 'acme/echo', input: 5 })).toEqual([400, 'invalid_request']);
    expect(await ask('/embeddings', { model: 'acme/echo', input: 5 })).toEqual([400, 'invalid_request']);
    expect(await ask('/chat/completions', hello('acme/failing'))).toEqual([502, 'no_available_provider']);
    expect(await ask('/models')).toEqual([200, 'list']);
    expect(await ask('/models/acme/none')).toEqual([400, 'unknown_model']);
    expect(await ask('/key')).toEqual([200, undefined]);
    expect(await ask('/generation?id=none')).toEqual([404, 'not_found']);
    expect(await task.stop()).toBe(0);
    await expectBalancedBooks(harness);
  });

  it('is healthy without a store', async () => {
    const task = await start('http://127.0.0.1:1');
    expect((await fetch(`${task.origin}/health`)).status).toBe(200);
    expect(await task.stop()).toBe(0);
  });

  it.each([
    // The first row has many small unread answers on few connections, the second large ones on many.
    { connections: 24, path: '/v1/models', sentBytes: 4 * 1_024 * 1_024 },
    { connections: 60, path: '/openapi.json', sentBytes: 64 * 1_024 },
  ])(
    'grows by less than 96 MB if $connections connections send $sentBytes bytes of GET $path each and read no answer, is back when they are closed, and serves others meanwhile',
    async ({ connections, path, sentBytes }) => {
      const task = await start();
      const isHealthy = async () => (await fetch(`${task.origin}/health`)).status === 200;
      for (let attempt = 0; attempt < 20; attempt += 1) expect(await isHealthy()).toBe(true);
      const before = residentMib(task);
      const headers = Object.entries(task.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const request = `GET ${path} HTTP/1.1\r\nHost: gw\r\n${headers.join('')}\r\n`;
      const requests = request.repeat(Math.ceil(sentBytes / request.length));
      const sockets = Array.from({ length: connections }, () => {
        const socket = connect(Number(new URL(task.origin).port), '127.0.0.1').on('error', () => {});
        socket.pause().write(requests);
        return socket;
      });
      // Other requests are served meanwhile; after them the process has taken all the memory that it takes.
      const grown: number[] = [];
      for (let attempt = 0; attempt < 200; attempt += 1) {
        expect(await isHealthy()).toBe(true);
        if (attempt % 20 === 19) grown.push(residentMib(task) - before);
      }
      const honest = await call(task, 'acme/echo');
      expect([honest.status, await honest.json()]).toMatchObject([200, { choices: [{ finish_reason: 'stop' }] }]);
      const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      for (let attempt = 0; attempt < 20; attempt += 1) expect(await isHealthy()).toBe(true);
      grown.push(residentMib(task) - before);
      expect(Math.max(...grown)).toBeLessThan(96);
      expect(await task.stop()).toBe(0);
    },
  );
});

describe('the build', () => {
  it('leaves the runtime’s own global as it is', async () => {
    const output = temporaryFolder();
    const handler = 'export const handler = awslambda.streamifyResponse(async (event: object) => event);';
    const [bundle] = await buildBundles(await sourcesWith(handler), output);
    expect(await readFile(String(bundle?.file), 'utf8')).toContain('awslambda.streamifyResponse(');
  });

  it('fails on a container that binds no address', async () => {
    const sources = await sourcesWith('export const handler = () => 1;', 'export const other = 1;');
    await expect(buildBundles(sources, temporaryFolder())).rejects.toThrow(/container.*it binds no address/);
  });

  it('fails if code that is loaded on demand is missing', async () => {
    const missing = onDemand['telemetry.cjs'];
    const sources = await sourcesWith('export const handler = () => 1;', `import('../../${missing}');`);
    const message = `${missing} is loaded on demand, and there is no such file`;
    await expect(buildBundles(sources, temporaryFolder())).rejects.toThrow(message);
  });

  it.each([
    ['exports no handler', 'export const other = 1;', /exports no handler/],
    ['does not load', 'export const handler = () => 1; missing();', /does not load: ReferenceError: missing/],
    ['does not resolve', "export { handler } from 'no-such-package';", /Could not resolve "no-such-package"/],
    [
      'is too large',
      `export const handler = () => '${'x'.repeat(bundleMaxBytes)}';`,
      new RegExp(`gateway/index\\.cjs has \\d+ bytes, ${bundleMaxBytes} are allowed`),
    ],
  ])('fails on a bundle that %s', async (_fault, handler, reason) => {
    await expect(buildBundles(await sourcesWith(handler), temporaryFolder())).rejects.toThrow(reason);
  });
});
