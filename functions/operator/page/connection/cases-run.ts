// Runs the test cases of a revision. The gateway names the missing calls, and this file makes the calls with an API key
// and sends the answers with the next request, until every case is judged.
import type { Cases } from './documents.ts';
import { manage, RequestFailed, readFailure } from './management.ts';

interface CaseRun {
  readonly workspace: string;
  readonly functionId: string;
  readonly revision: string;
  /** Base URL for clients, which ends in /v1. */
  readonly baseUrl: string;
  /** API key of the workspace, which pays the calls. */
  readonly key: string;
}

interface KnownAnswer {
  readonly call: string;
  readonly text: string;
}

/**
 * Maximum number of rounds. The steps of a workflow depend on each other, and each round completes at least one further
 * step.
 */
const roundsMax = 64;

/**
 * Runs the cases. Returns undefined if the operator leaves the view. Throws RequestFailed if a call got no answer,
 * because no case can then be judged.
 */
export async function runCases(run: CaseRun, report: (cases: Cases) => void): Promise<Cases | undefined> {
  const names = { workspace: run.workspace, id: run.functionId };
  const answers: KnownAnswer[] = [];
  for (let round = 0; round < roundsMax; round += 1) {
    const body = { revision: run.revision, answers };
    const { data } = await manage('POST /functions/{workspace}/{id}/cases', { names, body });
    report(data);
    const missing = data.cases.flatMap(({ calls }) => calls);
    if (missing.length === 0) return data;
    // The calls run one after the other, because the limits of a provider are not under test.
    for (const one of missing) answers.push({ call: one.call, text: await answerTo(run, one) });
  }
  return undefined;
}

type MissingCall = Cases['cases'][number]['calls'][number];

/** Calls the model, then each fallback model. If all fail, the failure of the last call is thrown. */
async function answerTo({ baseUrl, key }: CaseRun, { body, fallback_models }: MissingCall): Promise<string> {
  let failure = new RequestFailed('not sent', 'The call names no model.');
  for (const model of [body.model, ...fallback_models]) {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model }),
    }).catch(() => undefined);
    if (response === undefined) throw new RequestFailed('unreachable', `No gateway answers at ${baseUrl}.`);
    if (response.ok) {
      const { choices = [] } = (await response.json()) as {
        readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
      };
      return String(choices[0]?.message?.content ?? '');
    }
    failure = await readFailure(response);
  }
  throw failure;
}
