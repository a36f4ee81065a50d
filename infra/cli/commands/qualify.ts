// `functions qualify`: runs the test cases of a revision through a running gateway and, when all pass, notes that. The
// calls are real: the workspace pays for them like for any others.
import type { AdministrationDependencies } from '../../../shared/configuration/administration/index.ts';
import { parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { createTransport } from '../../../shared/routing/providers/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, UsageError } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { printable } from '../output/format.ts';
import { table } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { callGateway, runCases } from './run-cases.ts';

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

function readBaseUrl(name: string, text: string): string {
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
  const administration = await openAdministration(session, { writes: true });
  const key = await readKey(session, administration, workspace);
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
  const failed = cases.filter(({ passed }) => !passed).length;
  if (failed === 0) {
    // What was judged is named: a draft that changed meanwhile is refused.
    const judged = { revisionId: revision, textSha256: record.textSha256 };
    await administration.functionStore.qualify(workspace, id, judged, session.clock.nowMs());
  }
  return {
    json: { workspace, function: id, revision, qualified: failed === 0, cases },
    lines: (style) => [
      ...table(
        [{ title: 'case', align: 'right' }, { title: 'result' }, { title: 'why', isFlexible: true }],
        cases.map(({ number, passed, problem }) => [number, passed ? 'passed' : 'failed', problem ?? '']),
        style,
      ),
      ...cases.flatMap(({ number, answer }) =>
        answer === undefined ? [] : ['', `case ${number} answered:`, ...printable(answer).split('\n')],
      ),
      ...(failed === 0 ? [`revision ${revision} of function ${id} is qualified`] : []),
    ],
    failure: failed === 0 ? undefined : `${failed} of ${cases.length} cases failed: not qualified`,
  };
}

/** With a key of another workspace the cases would run under other models, policies and prices. */
async function readKey(
  { variables }: Session,
  { keys }: Pick<AdministrationDependencies, 'keys'>,
  workspace: string,
): Promise<string> {
  const key = variables[keyVariable] ?? '';
  const publicId = parseApiKey(key)?.publicId;
  if (publicId === undefined) throw new Error(`${keyVariable} must hold an API key of workspace ${workspace}`);
  if ((await keys.read(publicId))?.workspace !== workspace) {
    throw new Error(`the key in ${keyVariable} does not belong to workspace ${workspace} in this store`);
  }
  return key;
}
