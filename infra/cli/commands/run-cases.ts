// Runs the test cases of a revision: the management interface names the missing calls, they are made through a gateway,
// and their answers are sent along until every case is judged.
import type { ManagementDependencies } from '../../../functions/operator/dependencies.ts';
import { perform } from '../../../functions/operator/perform.ts';
import type { Documents, WrittenBody } from '../../../shared/configuration/management/index.ts';
import { outputTextOf } from '../../../shared/configuration/stored-functions/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { readText } from '../../../shared/foundation/outgoing/index.ts';
import { type JsonObject, readJsonBody } from '../../../shared/protocol/wire/index.ts';
import type { createTransport } from '../../../shared/routing/providers/index.ts';

const casesRoute = 'POST /functions/{workspace}/{id}/cases';
type Answer = NonNullable<WrittenBody<typeof casesRoute>['answers']>[number];
type MissingCall = Documents['ManagedCases']['cases'][number]['calls'][number];

interface GatewayAccess {
  readonly transport: Pick<ReturnType<typeof createTransport>, 'send'>;
  /** Ends in /v1, as clients write it. */
  readonly baseUrl: string;
  readonly key: string;
}

export interface CasesToRun {
  readonly names: { readonly workspace: string; readonly id: string };
  readonly revision: string;
}

/** Steps of a workflow follow each other, and each round brings every case at least one further. */
const roundsMax = 64;

/** Throws an Error where no gateway answers: then no case can be judged. */
export async function runCases(
  deps: ManagementDependencies,
  { names, revision }: CasesToRun,
  access: GatewayAccess,
  onProgress: (number: number, all: number) => void,
): Promise<Documents['ManagedCases']> {
  const answers: Answer[] = [];
  for (let round = 0; round < roundsMax; round += 1) {
    const { answer } = await perform(deps, casesRoute, { names, body: { revision, answers } });
    const { cases } = answer.data;
    if (cases.every(({ calls }) => calls.length === 0)) return answer.data;
    // One after the other, because a provider's limits are not under test.
    for (const { number, calls } of cases) {
      if (calls.length > 0) onProgress(number, cases.length);
      for (const call of calls) answers.push({ call: call.call, ...(await answerTo(call, access)) });
    }
  }
  throw new Error(`the cases need more than ${roundsMax} calls after each other`);
}

/** The model, then each fallback model; the failure of the last one counts. */
async function answerTo({ body, fallback_models }: MissingCall, access: GatewayAccess): Promise<Omit<Answer, 'call'>> {
  let answer: Omit<Answer, 'call'> = {};
  for (const model of [body.model, ...fallback_models]) {
    answer = await callGateway(access, { ...body, model });
    if (answer.error === undefined) return answer;
  }
  return answer;
}

/** The gateway answers within 55 seconds. */
const callTimeoutMs = 65_000;
const connectTimeoutMs = 5_000;
const answerMaxBytes = 16 * 1024 * 1024;

/** The text, or the gateway's own code and message. */
async function callGateway(
  { transport, baseUrl, key }: GatewayAccess,
  body: JsonObject,
): Promise<Omit<Answer, 'call'>> {
  const answer = await transport
    .send({
      url: new URL(`${baseUrl}/chat/completions`),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      connectTimeoutMs,
      signal: AbortSignal.timeout(callTimeoutMs),
    })
    .catch((cause: unknown) => {
      throw new Error(`no gateway answers at ${baseUrl}`, { cause });
    });
  const text = (await readText(answer.body, answerMaxBytes)) ?? '';
  const read = readJsonBody(Buffer.from(text));
  const value: JsonObject = read.kind === 'unreadable' ? {} : read.value;
  if (answer.status === okStatus && read.kind !== 'unreadable') return { text: outputTextOf(value) };
  return {
    error: `the gateway answered ${answer.status} ${String(value.error ?? '')}: ${String(value.message ?? '')}`,
  };
}
