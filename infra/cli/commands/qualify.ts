// Runs the test cases of a revision through a running gateway and, if all pass, stores that they passed (`functions
// qualify`). The calls are real, and the workspace pays for them like for any other call.

import type { ManagementDependencies } from '../../../functions/operator/dependencies.ts';
import { perform } from '../../../functions/operator/perform.ts';
import { parseApiKey } from '../../../shared/configuration/keys/index.ts';
import type { Documents, WrittenBody } from '../../../shared/configuration/management/index.ts';
import { outputTextOf } from '../../../shared/configuration/stored-functions/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { readText } from '../../../shared/foundation/outgoing/index.ts';
import { type JsonObject, readJsonBody } from '../../../shared/protocol/wire/index.ts';
import { createTransport } from '../../../shared/routing/providers/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, UsageError } from '../args/option-values.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { printable } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Style } from '../output/terminal.ts';
import { openAdministration, openManagement } from '../target/stores.ts';

const keyVariable = 'GW_API_KEY';

export function addQualify(functions: CommandLine): void {
  functions
    .command('qualify')
    .description('run the test cases of a revision; when all pass, it may be activated')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesArgument('REVISION', readId)
    .requiresOption('--url <URL>', 'base URL of a gateway on this store, as clients use it: ends in /v1', readBaseUrl)
    .notes(
      `Calls with the key in ${keyVariable}, which must be one of the workspace. The workspace pays for the calls.`,
    )
    .does(qualify);
}

export function readBaseUrl(name: string, text: string): string {
  if (/^https?:\/\/[^@?#]+\/v1\/?$/.test(text) && URL.canParse(text)) return text.replace(/\/$/, '');
  throw new UsageError(`${name} is the base URL of a gateway, as in http://127.0.0.1:8787/v1`);
}

async function qualify(
  session: Session,
  workspace: string,
  id: string,
  revision: string,
  { url }: { readonly url: string },
): Promise<CommandOutcome> {
  const judged = await judgeRevision(session, url, { names: { workspace, id }, revision });
  const { isQualified, cases } = judged;
  return {
    json: { workspace, function: id, revision, qualified: isQualified, cases },
    lines: (style) => [
      ...caseLines(cases, style),
      ...(isQualified ? [`revision ${revision} of function ${id} is qualified`] : []),
    ],
    failure: isQualified ? undefined : `${failedOf(judged)}: not qualified`,
  };
}

interface JudgedRevision {
  readonly isQualified: boolean;
  readonly cases: readonly CaseResult[];
}

interface CaseResult {
  readonly number: number;
  readonly passed: boolean;
  /** Reason of the failure; undefined when it passed. */
  readonly problem: string | undefined;
  /** The answer that failed; undefined when it passed, or no answer came. */
  readonly answer: string | undefined;
}

/** Maximum length of a failed answer that is shown. */
const answerMaxCharacters = 4_000;

/**
 * Runs the cases of a stored revision, and stores the result if all pass. `url` is the URL at which clients call a
 * gateway.
 */
export async function judgeRevision(session: Session, url: string, toRun: CasesToRun): Promise<JudgedRevision> {
  const deps = await openManagement(session, { writes: true });
  const { names, revision } = toRun;
  const key = await readCaseKey(session, names.workspace);
  const transport = createTransport(session.clock);
  const onProgress = (number: number, all: number) =>
    session.terminal.showProgress(`running case ${number} of ${all} …`);
  const { cases, is_qualified: isQualified } = await runCases(
    deps,
    toRun,
    { transport, baseUrl: url, key },
    onProgress,
  ).finally(() => transport.close());
  if (cases.length === 0) throw new Error(`revision ${revision} of function ${names.id} carries no cases`);
  return {
    isQualified,
    cases: cases.map(({ number, state, problem, answer }) =>
      state === 'passed'
        ? { number, passed: true, problem: undefined, answer: undefined }
        : {
            number,
            passed: false,
            problem: problem ?? undefined,
            answer: answer?.slice(0, answerMaxCharacters),
          },
    ),
  };
}

export const failedOf = ({ cases }: JudgedRevision): string =>
  `${cases.filter(({ passed }) => !passed).length} of ${cases.length} cases failed`;

export const caseLines = (cases: readonly CaseResult[], style: Style): readonly string[] => [
  ...table(
    [{ title: 'case', align: 'right' }, { title: 'result' }, { title: 'why', isFlexible: true }],
    cases.map(({ number, passed, problem }) => [number, passed ? 'passed' : 'failed', problem ?? '']),
    style,
  ),
  ...cases.flatMap(({ number, answer }) =>
    answer === undefined ? [] : ['', `case ${number} answered:`, ...printable(answer).split('\n')],
  ),
];

/**
 * Reads the key in the shell's environment. With a key of another workspace the cases would run under other models,
 * policies and prices.
 */
export async function readCaseKey(session: Session, workspace: string): Promise<string> {
  const { keys } = await openAdministration(session, { writes: true });
  const key = session.variables[keyVariable] ?? '';
  const publicId = parseApiKey(key)?.publicId;
  if (publicId === undefined) throw new Error(`${keyVariable} must hold an API key of workspace ${workspace}`);
  if ((await keys.read(publicId))?.workspace !== workspace) {
    throw new Error(`the key in ${keyVariable} does not belong to workspace ${workspace} in this store`);
  }
  return key;
}

// Runs the test cases of a revision. The management interface names the missing calls. The calls are made through a
// gateway, and their answers are sent with the next request, until every case is judged.

const casesRoute = 'POST /functions/{workspace}/{id}/cases';
type Answer = NonNullable<WrittenBody<typeof casesRoute>['answers']>[number];
type MissingCall = Documents['ManagedCases']['cases'][number]['calls'][number];

interface GatewayAccess {
  readonly transport: Pick<ReturnType<typeof createTransport>, 'send'>;
  /** Ends in /v1, as clients write it. */
  readonly baseUrl: string;
  readonly key: string;
}

interface CasesToRun {
  readonly names: { readonly workspace: string; readonly id: string };
  readonly revision: string;
}

/**
 * Maximum number of rounds. The steps of a workflow depend on each other, and each round advances every case by at
 * least one step.
 */
const roundsMax = 64;

/** Runs the cases. Throws an Error if no gateway answers, because no case can then be judged. */
async function runCases(
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
    // Cases run one after the other, because a provider's limits are not under test.
    for (const { number, calls } of cases) {
      if (calls.length > 0) onProgress(number, cases.length);
      for (const call of calls) answers.push({ call: call.call, ...(await answerTo(call, access)) });
    }
  }
  throw new Error(`the cases need more than ${roundsMax} calls after each other`);
}

/** Calls the model, then each fallback model. If all fail, the failure of the last call counts. */
async function answerTo({ body, fallback_models }: MissingCall, access: GatewayAccess): Promise<Omit<Answer, 'call'>> {
  let answer: Omit<Answer, 'call'> = {};
  for (const model of [body.model, ...fallback_models]) {
    answer = await callGateway(access, { ...body, model });
    if (answer.error === undefined) return answer;
  }
  return answer;
}

/** Time limit of a call; the gateway answers within 55 seconds. */
const callTimeoutMs = 65_000;
const connectTimeoutMs = 5_000;
const answerMaxBytes = 16 * 1024 * 1024;

/** Returns the text of the answer, or the gateway's own code and message. */
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
