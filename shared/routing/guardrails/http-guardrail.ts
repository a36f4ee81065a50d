// Calls a guardrail at a URL with one POST of the texts. The answer is short JSON. A redirect is a failure like any
// other status.
import { type HttpGuardrail, secretReferenceOf } from '../../configuration/catalogue/index.ts';
import { connectTimeoutDefaultMs } from '../../foundation/constants/index.ts';
import { readText } from '../../foundation/outgoing/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';
import { type CredentialSource, credentialWith, type Transport } from '../providers/index.ts';
import type { AskGuardrail, GuardrailAnswer, GuardrailQuestion } from './guardrail-call.ts';

/** Bound of an answer without its texts. The answer's texts may be longer than the sent texts. */
const answerBaseMaxBytes = 64 * 1024;
const answerTimes = 2;

export interface HttpGuardrailDependencies {
  readonly transport: Transport;
  readonly credentials: Pick<CredentialSource, 'secretOf'>;
}

export const httpGuardrail =
  ({ transport, credentials }: HttpGuardrailDependencies, guardrail: HttpGuardrail): AskGuardrail =>
  async (question) => {
    const { direction, texts, callId, signal } = question;
    const headers = credentialHeaders(credentials, guardrail);
    const body = JSON.stringify({ id: guardrail.id, call_id: callId, direction, texts });
    const answer = await transport.send({
      url: new URL(guardrail.url),
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': 'gw',
        ...headers,
      },
      body,
      connectTimeoutMs: Math.min(connectTimeoutDefaultMs, guardrail.timeout_ms),
      signal,
    });
    if (answer.status < 200 || answer.status >= 300) {
      answer.drain();
      throw new Error(`status ${answer.status}`);
    }
    const maxBytes = answerBaseMaxBytes + answerTimes * Buffer.byteLength(body);
    const text = await readText(answer.body, maxBytes);
    if (text === undefined) throw new Error(`an answer of more than ${maxBytes} bytes`);
    return readVerdict(text, question);
  };

function credentialHeaders({ secretOf }: HttpGuardrailDependencies['credentials'], { auth }: HttpGuardrail) {
  const reference = secretReferenceOf(auth);
  if (reference === undefined) return {};
  const secret = secretOf(reference);
  if (secret === undefined) throw new Error('the secret of its auth is not set');
  return credentialWith(auth, secret).headers;
}

function readVerdict(text: string, { texts: questionTexts }: GuardrailQuestion): GuardrailAnswer {
  const verdict: unknown = parsed(text);
  const { action, texts, message } = isJsonObject(verdict) ? verdict : {};
  if (action === 'pass') return { action };
  if (action === 'block') return { action, message: typeof message === 'string' ? message : undefined };
  if (action !== 'mask') throw new Error('an answer without action: pass, block or mask');
  const isWhole =
    Array.isArray(texts) && texts.length === questionTexts.length && texts.every((one) => typeof one === 'string');
  if (!isWhole) throw new Error('a mask whose texts are not as many as were asked about');
  return { action, texts };
}

/** Parses a text, without the parser's own error, which quotes it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('an answer that is no JSON');
  }
}
