// The management interface of a gateway, as an operator's program calls it.
import { createOperator } from '../../shared/configuration/administration/index.ts';
import type { Harness } from './harness.ts';
import { sendRequest } from './http-client.ts';

export interface OperatorAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: documents of a dozen shapes, which each test compares itself.
  readonly body: any;
  readonly response: Response;
}

export interface OperatorRequests {
  readonly key: string;
  get(path: string): Promise<OperatorAnswer>;
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<OperatorAnswer>;
}

/** Creates an operator of this name. Paths begin after /v1/manage. */
export async function operatorOf(
  gateway: Harness,
  name: string,
  grant?: Parameters<typeof createOperator>[2],
): Promise<OperatorRequests> {
  const { text } = await createOperator(gateway.composition, name, grant);
  return asOperator(gateway, text);
}

/** Sends requests with an operator key, or with the token of a person. */
export function asOperator(gateway: Pick<Harness, 'url'>, key: string): OperatorRequests {
  const send: OperatorRequests['send'] = async (method, path, body, headers = {}) => {
    const response = await sendRequest(`${gateway.url}/manage${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    });
    const copy = response.clone();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, body: isJson ? await response.json() : await response.text(), response: copy };
  };
  return { key, send, get: (path) => send('GET', path) };
}

/** Returns every item of a list, page by page. */
export async function walk(
  operator: OperatorRequests,
  path: string,
  parameter: 'before' | 'cursor',
): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  let next: string | null = null;
  do {
    const separator = path.includes('?') ? '&' : '?';
    const { body } = await operator.get(next === null ? path : `${path}${separator}${parameter}=${next}`);
    pages.push(body.data);
    next = body.next_cursor;
  } while (next !== null && pages.length < 50);
  return pages;
}
