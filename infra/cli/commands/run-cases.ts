// The test cases of a revision, each run through a gateway as the calls that the function would make, and judged.
import {
  checkInput,
  type Expectation,
  type FunctionInput,
  type FunctionRequest,
  judgeCase,
  outputTextOf,
  promptRequest,
  type RevisionContent,
  runWorkflow,
} from '../../../shared/configuration/stored-functions/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { type JsonObject, readJsonBody } from '../../../shared/protocol/wire/index.ts';
import { type createTransport, readBoundedBody } from '../../../shared/routing/providers/index.ts';

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
  for (const [index, { input, expect }] of content.cases.entries()) {
    onProgress(index);
    results.push({ number: index + 1, ...(await runCase(content, input, expect, call)) });
  }
  return results;
}

async function runCase(
  content: RevisionContent,
  input: FunctionInput,
  expect: Expectation,
  call: Call,
): Promise<Omit<CaseResult, 'number'>> {
  try {
    const output = await run(content, input, call);
    const verdict = await judgeCase(expect, output);
    if (verdict.passed) return { passed: true, problem: undefined, answer: undefined };
    return { passed: false, problem: `the answer ${verdict.problem}`, answer: output?.slice(0, answerMaxCharacters) };
  } catch (error) {
    if (error instanceof GatewayUnreachable) throw error;
    const problem = error instanceof Error ? error.message : 'it could not be run';
    return { passed: false, problem, answer: undefined };
  }
}

async function run(content: RevisionContent, input: FunctionInput, call: Call): Promise<string | undefined> {
  await checkInput(content, input);
  const matched = { input, passed: {} };
  if (content.kind === 'prompt') return outputTextOf(await callWithFallback(promptRequest(content, matched), call));
  const { output } = await runWorkflow(content, matched, async (step, request) => {
    const text = outputTextOf(await callWithFallback(request, call));
    if (text === undefined) throw new Error(`step ${step.id} answered without a text`);
    return { output: text };
  });
  return output;
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
  const text = (await readBoundedBody(answer.body, answerMaxBytes, () => {})) ?? '';
  const read = readJsonBody(Buffer.from(text));
  const value: JsonObject = read.kind === 'unreadable' ? {} : read.value;
  if (answer.status === okStatus && read.kind !== 'unreadable') return value;
  throw new Error(`the gateway answered ${answer.status} ${String(value.error ?? '')}: ${String(value.message ?? '')}`);
}
