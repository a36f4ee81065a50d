// The test cases of a revision, each run through a gateway as the calls that the function would make, and judged.
import {
  type FunctionRequest,
  outputTextOf,
  type RevisionContent,
  runCase,
  type TestCase,
} from '../../../shared/configuration/stored-functions/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { readText } from '../../../shared/foundation/outgoing/index.ts';
import { type JsonObject, readJsonBody } from '../../../shared/protocol/wire/index.ts';
import type { createTransport } from '../../../shared/routing/providers/index.ts';

/** One plain call; throws an Error with a text for the operator. */
export type Call = (body: JsonObject) => Promise<JsonObject>;

export interface CaseResult {
  /** From 1, as people count. */
  readonly number: number;
  readonly passed: boolean;
  /** Undefined: it passed. */
  readonly problem: string | undefined;
  /** The answer that failed; undefined: it passed, or there was none. */
  readonly answer: string | undefined;
}

/** No answer came from the URL at all: no case can be judged. */
class GatewayUnreachable extends Error {
  override readonly name = 'GatewayUnreachable';
}

/** Of an answer that failed, as much as shows why. */
const answerMaxCharacters = 4_000;

/** One after the other: a provider's limits are not what is tested. */
export async function runCases(
  content: RevisionContent,
  call: Call,
  onProgress: (done: number) => void,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const [index, one] of content.cases.entries()) {
    onProgress(index);
    results.push({ number: index + 1, ...(await runOne(content, one, call)) });
  }
  return results;
}

async function runOne(content: RevisionContent, one: TestCase, call: Call): Promise<Omit<CaseResult, 'number'>> {
  try {
    const textOf = async (asked: FunctionRequest) => outputTextOf(await callWithFallback(asked, call));
    const { output, problem } = await runCase(content, one, textOf);
    const answer = problem === undefined ? undefined : output?.slice(0, answerMaxCharacters);
    return { passed: problem === undefined, problem, answer };
  } catch (error) {
    if (error instanceof GatewayUnreachable) throw error;
    const problem = error instanceof Error ? error.message : 'it could not be run';
    return { passed: false, problem, answer: undefined };
  }
}

/** The model, then each fallback model; the failure of the last one counts. */
async function callWithFallback({ body, fallbackModels }: FunctionRequest, call: Call): Promise<JsonObject> {
  let failure: unknown;
  for (const model of [body.model, ...fallbackModels]) {
    try {
      return await call({ ...body, model });
    } catch (error) {
      if (error instanceof GatewayUnreachable) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** The gateway answers within 55 seconds. */
const callTimeoutMs = 65_000;
const connectTimeoutMs = 5_000;
const answerMaxBytes = 16 * 1024 * 1024;

export interface GatewayAccess {
  readonly transport: Pick<ReturnType<typeof createTransport>, 'send'>;
  /** Ends in /v1, as clients write it. */
  readonly baseUrl: string;
  readonly key: string;
}

/** The completion. Throws GatewayUnreachable, or an Error with the gateway's own code and message for any other answer. */
export async function callGateway({ transport, baseUrl, key }: GatewayAccess, body: JsonObject): Promise<JsonObject> {
  const answer = await transport
    .send({
      url: new URL(`${baseUrl}/chat/completions`),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      connectTimeoutMs,
      signal: AbortSignal.timeout(callTimeoutMs),
    })
    .catch((cause: unknown) => {
      throw new GatewayUnreachable(`no gateway answers at ${baseUrl}`, { cause });
    });
  const text = (await readText(answer.body, answerMaxBytes)) ?? '';
  const read = readJsonBody(Buffer.from(text));
  const value: JsonObject = read.kind === 'unreadable' ? {} : read.value;
  if (answer.status === okStatus && read.kind !== 'unreadable') return value;
  throw new Error(`the gateway answered ${answer.status} ${String(value.error ?? '')}: ${String(value.message ?? '')}`);
}
