// `functions qualify`: runs the test cases of a revision through a running gateway and, when all pass, notes that. The
// calls are real: the workspace pays for them like for any others.
import { parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { createTransport } from '../../../shared/routing/providers/index.ts';
import { callGateway } from '../call-gateway.ts';
import type { Command, Outcome, Session } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { operatorClock } from '../operator-clock.ts';
import { table } from '../output/table.ts';
import { type CaseResult, runCases } from '../run-cases.ts';
import { type Stores, storesOn } from '../stores.ts';
import { UsageError } from '../usage-error.ts';
import { readId } from '../values.ts';

const keyVariable = 'GW_API_KEY';

interface Candidate {
  readonly workspace: string;
  readonly id: string;
  readonly revision: string;
  readonly url: string;
}

export const functionsQualifyCommand: Command<OpenTarget> = {
  name: 'functions qualify',
  summary: 'run the test cases of a revision; when all pass, it may be activated',
  parameters: [{ name: 'WORKSPACE' }, { name: 'FUNCTION' }, { name: 'REVISION' }],
  options: {
    url: {
      value: 'URL',
      summary: 'base URL of a gateway on this store, as clients use it: ends in /v1',
      isRequired: true,
    },
  },
  notes: [`Calls with the key in ${keyVariable}, which belongs to the workspace. The calls cost what they cost.`],
  prepare: (input) => {
    const candidate: Candidate = {
      workspace: readId('WORKSPACE', input.parameter('WORKSPACE')),
      id: readId('FUNCTION', input.parameter('FUNCTION')),
      revision: readId('REVISION', input.parameter('REVISION')),
      url: readBaseUrl(input.required('url')),
    };
    return (session) => qualify(session, candidate);
  },
};

function readBaseUrl(text: string): string {
  if (/^https?:\/\/[^@?#]+\/v1\/?$/.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--url is the base URL of a gateway, as in http://127.0.0.1:8787/v1');
}

async function qualify(session: Session<OpenTarget>, { workspace, id, revision, url }: Candidate): Promise<Outcome> {
  const stores = storesOn((await session.open()).store);
  const key = await readKey(session, stores, workspace);
  const shown = await stores.functionStore.show(workspace, id);
  const [record, content] = [shown?.record.revisions.get(revision), shown?.contents.get(revision)];
  if (record === undefined || content === undefined) {
    throw new Error(`workspace ${workspace} has no revision ${revision} of a function ${id}`);
  }
  if (content.cases.length === 0) throw new Error(`revision ${revision} of function ${id} carries no cases`);
  const transport = createTransport(operatorClock);
  const onProgress = (done: number) =>
    session.terminal.showProgress(`running case ${done + 1} of ${content.cases.length} …`);
  const results = await runCases(
    content,
    (body) => callGateway({ transport, baseUrl: url, key }, body),
    onProgress,
  ).finally(() => transport.close());
  const failed = results.filter(({ passed }) => !passed).length;
  if (failed === 0) {
    // What was judged is named: a draft that changed meanwhile is refused.
    const judged = { revisionId: revision, textSha256: record.textSha256 };
    await stores.functionStore.qualify(workspace, id, judged, session.clock.nowMs());
  }
  return toOutcome({ workspace, id, revision, url }, results, failed);
}

/** A key of another workspace would be told about other models, policies and prices. */
async function readKey({ variables }: Session<OpenTarget>, { keys }: Stores, workspace: string): Promise<string> {
  const key = variables[keyVariable] ?? '';
  const publicId = parseApiKey(key)?.publicId;
  if (publicId === undefined) throw new Error(`${keyVariable} must hold an API key of workspace ${workspace}`);
  if ((await keys.read(publicId))?.workspace !== workspace) {
    throw new Error(`the key in ${keyVariable} is none of workspace ${workspace} in this store`);
  }
  return key;
}

const toOutcome = (
  { workspace, id, revision }: Candidate,
  results: readonly CaseResult[],
  failed: number,
): Outcome => ({
  json: { workspace, function: id, revision, qualified: failed === 0, cases: results },
  lines: (style) => [
    ...table(
      [{ title: 'case', align: 'right' }, { title: 'result' }, { title: 'why', isFlexible: true }],
      results.map(({ number, passed, problem }) => [number, passed ? 'passed' : 'failed', problem ?? '']),
      style,
    ),
    ...(failed === 0 ? [`revision ${revision} of function ${id} is qualified`] : []),
  ],
  failure: failed === 0 ? undefined : `${failed} of ${results.length} cases failed: not qualified`,
});
