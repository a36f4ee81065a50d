// Google's and AWS's clients for Python, on models of every format. Those of AWS send a token only over TLS.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../infra/verify/verify-step.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { testCertificate } from '../support/forward-proxy.ts';
import { testGateway } from '../support/serve-gateway.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startClientGateway } from './client-gateway.ts';
import { virtualEnvironment } from './python-environment.ts';

const formats = ['generate-content', 'converse', 'messages', 'responses', 'chat-completions'] as const;

/** Results at one format. Features that a client lacks are absent. */
interface SeenAtFormat {
  readonly answer: string;
  readonly stream: string;
  /** The answer after the results, and the answer to one more question. */
  readonly tools?: readonly string[];
  readonly schema?: unknown;
  readonly invoke?: string;
  readonly count?: number;
  readonly broken?: string | null;
  readonly limited?: string | null;
  readonly too_long?: string | null;
}

interface SeenLists {
  readonly models: readonly string[];
  readonly vectors: number;
}

const greeting = /^Hello! You wrote “Hello”/;

function check(client: string, format: string, results: SeenAtFormat): void {
  const where = `${client} at ${format}`;
  for (const text of [results.answer, results.stream, results.invoke ?? results.answer])
    assert.match(text, greeting, where);
  if (results.tools !== undefined) {
    assert.match(results.tools[0] ?? '', /^The tools answered “sunny”/, where);
    assert.match(results.tools[1] ?? '', greeting, where);
  }
  if (results.schema !== undefined) assert.deepEqual(results.schema, { label: 'text' }, where);
  if (results.count !== undefined) assert.ok(results.count > 0, where);
  if (results.broken === undefined) return;
  assert.match(results.broken ?? '', /The stream broke off after its first output/, where);
  assert.match(results.limited ?? '', /RESOURCE_EXHAUSTED|ThrottlingException/, where);
  assert.match(results.too_long ?? '', /exceeds the maximum number of tokens|Input is too long/, where);
}

export async function runGoogleAndAws(): Promise<string> {
  const python = await virtualEnvironment('requirements-google-aws.txt');
  const gateway = await startClientGateway();
  const { composition } = gateway;
  const overTls = createNodeServer(testGateway(composition), composition, { tls: testCertificate });
  const certificate = join(temporaryFolder(), 'certificate.pem');
  writeFileSync(certificate, testCertificate.cert);
  try {
    const tlsOrigin = `https://localhost:${await overTls.listen(0, '127.0.0.1')}`;
    const request = { origin: new URL(gateway.url).origin, tls_origin: tlsOrigin, key: gateway.key, formats };
    const output = await runCommand(python, [join(import.meta.dirname, 'python/check_google_aws.py')], {
      env: {
        GW_CLIENTS: JSON.stringify(request),
        PYTHONDONTWRITEBYTECODE: '1',
        AWS_BEARER_TOKEN_BEDROCK: gateway.key,
        AWS_ENDPOINT_URL_BEDROCK_RUNTIME: `${tlsOrigin}/bedrock`,
        AWS_CA_BUNDLE: certificate,
        SSL_CERT_FILE: certificate,
        AWS_REGION: 'us-east-1',
        AWS_DEFAULT_REGION: 'us-east-1',
      },
    });
    const { lists, ...clients } = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as {
      readonly lists: SeenLists;
    } & Readonly<Record<string, Readonly<Record<string, SeenAtFormat>>>>;
    for (const [client, results] of Object.entries(clients)) {
      for (const format of formats) check(client, format, results[format] as SeenAtFormat);
    }
    assert.ok(lists.models.includes('models/messages/thinking'));
    assert.equal(lists.vectors, 2);
    // A provider refused nothing else.
    const refusedModels = gateway.simulator.calls.filter(({ status }) => status === 400).map(({ model }) => `${model}`);
    assert.ok(
      refusedModels.every((model) => model.endsWith('error-400:context_length_exceeded')),
      refusedModels.join(),
    );
    return Object.keys(clients).join(', ');
  } finally {
    await overTls.close();
    await gateway.stop();
  }
}
