// What the service in front of a function makes of its bytes: status and headers before eight NUL bytes, then the body.
import type { Delivery } from './runtime-api.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Chunks the body arrived in. */
  readonly pieces: number;
}

const preludeType = 'application/vnd.awslambda.http-integration-response';
const preludeEnd = Buffer.alloc(8);

/** Of a function that streams. Throws where a function URL would answer 502. */
export function readStreamed({ contentType, chunks, errorType }: Delivery): Answer {
  if (errorType !== undefined) throw new Error(`the runtime reported ${errorType}`);
  if (contentType !== preludeType) throw new Error(`the answer is ${contentType || 'of no type'} and has no prelude`);
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf(preludeEnd);
  if (end < 0) throw new Error('the prelude has no end');
  const prelude = JSON.parse(bytes.subarray(0, end).toString('utf8')) as {
    statusCode: number;
    headers: Record<string, string>;
  };
  const bodyStart = end + preludeEnd.length;
  let offset = 0;
  const pieces = chunks.filter((chunk) => {
    offset += chunk.length;
    return offset > bodyStart;
  }).length;
  const body = bytes.subarray(bodyStart).toString('utf8');
  return { status: prelude.statusCode, headers: prelude.headers, body, pieces };
}

/** Of a function that answers at once. */
export function readBuffered({ chunks }: Delivery): Answer {
  const { statusCode, headers, body } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
  return { status: statusCode, headers, body, pieces: 1 };
}
