// Small stored functions, which a test may change, and the calls that run them.
import { expect } from '#jest';
import type { Route } from './gateway-file.ts';

type Json = Record<string, unknown>;

/** Returns a model `acme/NAME` for each behaviour of the simulator, all at 1 USD and 2 USD per million tokens. */
export const modelsFor = (behaviours: readonly string[]): Record<string, readonly Route[]> =>
  Object.fromEntries(behaviours.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]));

/** Returns a revision `r1` that passes its input to `acme/echo`. */
export const revision = (more: Json = {}): Json => ({
  id: 'r1',
  state: 'activated',
  model: 'acme/echo',
  messages: [{ role: 'user', content: '{{input}}' }],
  ...more,
});

/** Returns a function with only that revision. */
export const prompt = (id: string, more: Json = {}, head: Json = {}): Json => ({
  id,
  kind: 'prompt',
  active: 'r1',
  revisions: [revision(more)],
  ...head,
});

export const step = (id: string, content: string, more: Json = {}): Json => ({
  id,
  model: 'acme/echo',
  messages: [{ role: 'user', content }],
  ...more,
});

export const workflow = (id: string, steps: readonly Json[], output: unknown, more: Json = {}): Json => ({
  id,
  kind: 'workflow',
  active: 'r1',
  revisions: [{ id: 'r1', state: 'activated', input: { type: 'object', schema: {} }, steps, output, ...more }],
});

export const jsonSchema = (schema: Json): Json => ({ type: 'json_schema', json_schema: { name: 'answer', schema } });

/** Returns the body of a function call. An input that is not a text is sent as JSON. */
export const ask = (alias: string, input: unknown = 'Hello', more: Json = {}): Json => ({
  model: `gw/function/${alias}`,
  messages: [{ role: 'user', content: typeof input === 'string' ? input : JSON.stringify(input) }],
  ...more,
});

export interface FunctionAnswer {
  readonly body: Json;
  readonly text: string;
  readonly headers: Headers;
  /** Content of the first choice. */
  readonly content: string;
  readonly usage: Json;
  readonly gw: {
    readonly function_id: string;
    readonly revision_id: string;
    readonly fallback_used: boolean;
    readonly execution_id: string;
  };
}

/** Asserts that a response is an answer, and returns it. */
export async function answerOf(response: Response): Promise<FunctionAnswer> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const body = JSON.parse(text) as Json;
  const [choice] = body.choices as { message: { content: string } }[];
  return {
    body,
    text,
    headers: response.headers,
    content: choice?.message.content ?? '',
    usage: body.usage as Json,
    gw: body.gw as FunctionAnswer['gw'],
  };
}

/** Returns the request that the behaviour `echo-request` received. */
export const receivedIn = ({ content }: Pick<FunctionAnswer, 'content'>): { headers: Json; body: Json } =>
  JSON.parse(content) as { headers: Json; body: Json };

/** Returns an error answer without the fields that differ in every request. */
export async function withoutIds(response: Response): Promise<unknown> {
  const { correlation_id: _id, ...body } = (await response.json()) as Json;
  const ids = ['x-request-id', 'x-gw-trace-id', 'date'];
  const headers = [...response.headers].filter(([name]) => !ids.includes(name));
  return { status: response.status, headers, body };
}
