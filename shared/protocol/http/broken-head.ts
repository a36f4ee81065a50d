// The head of a request that Node's parser refuses, as far as it can be read: its refusal has a line under the path and the
// trace of its client all the same.
import { canonicalPath, type GatewayRequest, type HeaderValues, queryOf } from './exchange.ts';

const requestLine = /^([A-Z]{1,20}) (\S+)/;
const headerLine = /^([\w-]{1,100}):[ \t]*(.*?)[ \t]*$/;

export type ReadHead = Pick<GatewayRequest, 'method' | 'path' | 'query' | 'headers'>;

export function readBrokenHead(head: string): ReadHead {
  const [first = '', ...lines] = head.split('\r\n');
  const [, method = '', target = '/'] = requestLine.exec(first) ?? [];
  const headers: Record<string, string[]> = {};
  // Behind the last line end the line may have been cut.
  for (const line of lines.slice(0, -1)) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) continue;
    const values = headers[name.toLowerCase()] ?? [];
    headers[name.toLowerCase()] = [...values, value];
  }
  return { method, path: pathOf(target), query: queryOf(target), headers: headers satisfies HeaderValues };
}

/** The path of a request line, which may also be a whole URL (a client that takes the gateway for its proxy). */
export const pathOf = (target: string): string => canonicalPath(target.replace(/^https?:\/\/[^/?#]*/i, ''));
