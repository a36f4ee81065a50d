// `functions qualify`: runs the test cases of a revision through a running gateway and, when all pass, notes that. The
// calls are real: the workspace pays for them like for any others.
import { parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { createTransport } from '../../../shared/routing/providers/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, UsageError } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { printable } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Style } from '../output/terminal.ts';
import { openAdministration } from '../target/stores.ts';
import { type CaseResult, callGateway, runCases } from './run-cases.ts';

const keyVariable = 'GW_API_KEY';

export function addQualify(functions: CommandLine): void {
  functions
    .command('qualify')
    .description('run the test cases of a revision; when all pass, it may be activated')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesArgument('REVISION', readId)
    .requiresOption('--url <URL>', 'base URL of a gateway on this store, as clients use it: ends in /v1', readBaseUrl)
    .notes(`Calls with the key in ${keyVariable}, which belongs to the workspace. The calls cost what they cost.`)
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
): Promise<Outcome> {
  const judged = await judgeRevision(session, { workspace, id, revision, url });
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

export interface CasesToRun {
  readonly workspace: string;
  readonly id: string;
  readonly revision: string;
  /** Of a gateway, as clients use it. */
  readonly url: string;
}

export interface JudgedRevision {
  readonly isQualified: boolean;
  readonly cases: readonly CaseResult[];
}

/** Runs the cases of a stored revision, and notes it where all pass. */
export async function judgeRevision(
  session: Session,
  { workspace, id, revision, url }: CasesToRun,
): Promise<JudgedRevision> {
  const administration = await openAdministration(session, { writes: true });
  const key = await readCaseKey(session, workspace);
  const shown = await administration.functionStore.show(workspace, id);
  const [record, content] = [shown?.record.revisions.get(revision), shown?.contents.get(revision)];
  if (record === undefined || content === undefined) {
    throw new Error(`workspace ${workspace} has no revision ${revision} of a function ${id}`);
  }
  if (content.cases.length === 0) throw new Error(`revision ${revision} of function ${id} carries no cases`);
  const transport = createTransport(session.clock);
  const onProgress = (done: number) =>
    session.terminal.showProgress(`running case ${done + 1} of ${content.cases.length} …`);
  const cases = await runCases(
    content,
    (body) => callGateway({ transport, baseUrl: url, key }, body),
    onProgress,
  ).finally(() => transport.close());
  const isQualified = cases.every(({ passed }) => passed);
  if (isQualified) {
    // What was judged is named: a draft that changed meanwhile is refused.
    const judged = { revisionId: revision, textSha256: record.textSha256 };
    await administration.functionStore.qualify(workspace, id, judged, session.clock.nowMs());
  }
  return { isQualified, cases };
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

/** Of the shell. With a key of another workspace the cases would run under other models, policies and prices. */
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
