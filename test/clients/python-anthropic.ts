// Anthropic's client for Python: its results are compared with the expected ones.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { runCommand } from '../../infra/verify/verify-step.ts';
import { formats } from './client-gateway.ts';
import { errorKinds } from './error-kinds.ts';
import { virtualEnvironment } from './python-environment.ts';
import { startCountedGateway } from './python-gateway.ts';
import { formatResults } from './results.ts';

interface SeenError {
  readonly class: string;
  readonly status: number | null;
  readonly request_id: string | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly text: string;
}

interface Seen {
  readonly message: { readonly text: string; readonly request_id: string; readonly cost: string };
  readonly stream: string;
  readonly tools: { readonly blocks: readonly string[]; readonly text: string };
  readonly count: number;
  readonly broken: SeenError;
  readonly cut: SeenError;
  /** The error at each format; null after an answer. */
  readonly formats: Readonly<Record<string, SeenError | null>>;
  readonly errors: readonly (SeenError & { readonly requests: number })[];
}

/** Error classes and types by the status in the title of a kind. */
const classes: Readonly<Record<string, readonly [errorClass: string, type: string]>> = {
  400: ['BadRequestError', 'invalid_request_error'],
  401: ['AuthenticationError', 'authentication_error'],
  402: ['PaymentRequiredError', 'billing_error'],
  429: ['RateLimitError', 'rate_limit_error'],
  502: ['InternalServerError', 'api_error'],
  503: ['ServiceUnavailableError', 'overloaded_error'],
};

function check({ message, stream, tools, count, broken, cut, formats: seenAt, errors }: Seen): void {
  assert.match(message.text, /^Hello! You wrote “Hello”/);
  assert.match(message.request_id, /^[0-9a-f-]{36}$/);
  assert.ok(Number(message.cost) > 0);
  assert.match(stream, /^Hello! You wrote “Hello”/);
  assert.deepEqual([tools.blocks[0], tools.blocks.includes('tool_use')], ['thinking', true]);
  assert.match(tools.text, /^The tools answered “sunny”/);
  assert.ok(count > 0);
  for (const { code, text } of [broken, cut]) {
    assert.equal(code, 'no_available_provider');
    assert.match(text, /The stream broke off/);
  }
  const cells = formats.map((format) => {
    const failed = seenAt[format];
    if (failed !== null) assert.equal(failed?.code, 'model_not_routable');
    return [format, failed === null ? 'yes' : 'no'];
  });
  assert.deepEqual(formatResults['anthropic (Python)'], Object.fromEntries(cells), 'formats in results.ts');
  for (const [index, kind] of errorKinds.entries()) {
    const error = errors[index];
    const [, status = ''] = /\((\d{3})\)/.exec(kind.title) ?? [];
    // The code `context_length_exceeded` exists only in OpenAI's form.
    const code = kind.code === 'context_length_exceeded' ? 'invalid_request' : kind.code;
    const errorFields = { class: error?.class, type: error?.type, status: error?.status, code: error?.code };
    const [errorClass, type] = classes[status] ?? [];
    assert.deepEqual(errorFields, { class: errorClass, type, status: Number(status), code }, kind.title);
    assert.ok(error?.text.includes(kind.saysOnMessages ?? kind.says), `${kind.title} reads ${error?.text}`);
    assert.match(error?.request_id ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(error?.requests, kind.isFinal ? 1 : 3, kind.title);
  }
}

export async function runAnthropic(): Promise<string> {
  const python = await virtualEnvironment('requirements-anthropic.txt');
  const { gateway, origin, stop } = await startCountedGateway();
  try {
    const kinds = errorKinds.map(({ model, keyOf }) => ({ model, key: keyOf(gateway) }));
    const request = JSON.stringify({ origin, key: gateway.key, kinds, formats });
    const output = await runCommand(python, [join(import.meta.dirname, 'python/check_anthropic.py')], {
      env: { GW_CLIENTS: request, PYTHONDONTWRITEBYTECODE: '1' },
    });
    check(JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Seen);
    return 'anthropic (Python)';
  } finally {
    await stop();
  }
}
