// Shows stored functions, and makes the transitions that an operator requests (`functions list | show | compare |
// activate | disable | enable`). The store of functions decides which transitions are allowed.

import { readFile } from 'node:fs/promises';
import { functionDocument } from '../../../functions/operator/functions/function-documents.ts';
import { changeFunction, readFunction } from '../../../shared/configuration/administration/index.ts';
import { planPublication } from '../../../shared/configuration/gateway-file/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import type { FunctionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { compareLines } from '../../../shared/foundation/lines/index.ts';
import { addCallCommands, type CallCommands, input, type LineInput, search } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readText, UsageError } from '../args/option-values.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { problemsOutcome } from '../output/apply-outcome.ts';
import { functionFields, functionJson, functionOutcome, revisionFields } from '../output/stored-functions.ts';
import { fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { addQualify, caseLines, failedOf, judgeRevision, readBaseUrl, readCaseKey } from './qualify.ts';

export function addFunctions(program: CommandLine): void {
  const functions = program.command('functions').description('stored functions and their revisions');
  addCallCommands<'functions'>(functions, functionCommands);
  addPublish(functions);
  addQualify(functions);
}

const name: readonly LineInput[] = [
  input('WORKSPACE', 'names.workspace', readId),
  input('FUNCTION', 'names.id', readId),
];

/** Returns a revision as the gateway file writes it, line by line. Throws an Error if the revision does not exist. */
function linesOf({ workspace, id, revisions }: Documents['ShownFunction'], wanted: unknown): string[] {
  const revision = revisions.find((one) => one.id === wanted);
  if (revision === undefined) throw new Error(`function ${id} of ${workspace} has no revision ${wanted}`);
  return revision.text.trimEnd().split('\n');
}

const marks = { same: ' ', removed: '-', added: '+' } as const;

const functionCommands: CallCommands<'functions'> = {
  'functions list': {
    takes: [input('--workspace <W>', 'query.workspace', readId, 'of this workspace only'), search],
    example: '--workspace team-a',
    shows: ({ data }) => ({
      json: { functions: data.map(functionJson) },
      lines: (style) => (data.length === 0 ? ['there are no functions'] : fieldTable(functionFields, data, style)),
    }),
  },
  'functions show': {
    summary: 'a function with the states of its revisions',
    takes: [
      ...name,
      input(
        '--revision <R>',
        'shown.revision',
        readId,
        'print this revision alone, as the gateway file writes it and `publish` reads it',
      ),
    ],
    example: 'team-a label --revision r2',
    shows: ({ data }, { request: { shown } }) => {
      const { revision } = shown;
      // A single revision is the input of `publish`.
      const text = revision === undefined ? undefined : [`id: ${JSON.stringify(revision)}`, ...linesOf(data, revision)];
      const contents = data.revisions
        .filter(({ id }) => revision === undefined || id === revision)
        .map(({ id, content }) => [id, { kind: data.kind, ...content }]);
      return {
        json: { ...functionJson(data), contents: Object.fromEntries(contents) },
        lines: (style) =>
          text ?? [
            ...fieldTable(functionFields, [data], style),
            '',
            ...fieldTable(revisionFields(data), data.revisions, style),
          ],
      };
    },
  },
  'functions compare': {
    summary: 'the texts of two revisions as one: what only the first has (-), and what only the second (+)',
    takes: [...name, input('REVISION', 'shown.left', readId), input('OTHER', 'shown.right', readId)],
    example: 'team-a label r1 r2',
    shows: ({ data }, { request: { shown } }) => {
      const { left, right } = shown;
      const lines = compareLines(linesOf(data, left), linesOf(data, right));
      const isSame = lines.every(({ kind }) => kind === 'same');
      return {
        json: { workspace: data.workspace, function: data.id, left, right, is_same: isSame, lines },
        lines: () =>
          isSame
            ? [`${left} and ${right} hold the same`]
            : [`- ${left}`, `+ ${right}`, '', ...lines.map(({ kind, text }) => `${marks[kind]} ${text}`)],
      };
    },
  },
  'functions activate': {
    takes: [...name, input('REVISION', 'body.revision', readId)],
    example: 'team-a label r2',
    notes: [
      'An activated revision never changes again. The former one can still be called as gw/function/ID@REVISION.',
      'A revision with cases must be qualified first.',
    ],
    shows: ({ data }) => functionOutcome(data),
  },
  'functions disable': {
    takes: name,
    example: 'team-a label --yes',
    async asks({ names: { workspace = '', id = '' } }, deps) {
      await readFunction(deps, { workspace, id });
      return `disable function ${id} of ${workspace}`;
    },
    shows: ({ data }) => {
      const { json, lines } = functionOutcome(data);
      const seconds = configFreshMs / 1_000;
      return {
        json: { ...json, effective_within_seconds: seconds },
        lines: (style) => [
          ...lines(style),
          `instances that read it a moment ago may still answer for up to ${seconds} s`,
        ],
      };
    },
  },
  'functions enable': {
    takes: name,
    example: 'team-a label',
    shows: ({ data }) => functionOutcome(data),
  },
};

// Stores a revision without a gateway file around it (`functions publish`).

/** The limit of the management interface. */
const revisionMaxBytes = 1024 * 1024;

function addPublish(functions: CommandLine): void {
  functions
    .command('publish')
    .description('store a revision of a function, which is made where there is none')
    .takesArgument('WORKSPACE', readId)
    .takesArgument('FUNCTION', readId)
    .takesArgument('FILE', readText)
    .takesOption('--revision <R>', 'its id, in place of the one in FILE', readId)
    .takesOption('--activate', 'make it the one that serves; a revision with cases must have passed them')
    .takesOption(
      '--url <URL>',
      'with --activate: first run its cases through this gateway, as qualify does',
      readBaseUrl,
    )
    .takesOption('--skip-cases', 'with --activate: even where its cases were not passed')
    .notes(
      'FILE is a revision as the gateway file writes it (YAML or JSON), for a new function with its kind; - reads standard input.',
      'Where a case fails, the revision stays a draft and the former one goes on serving.',
      'An activated revision never changes: a new text is a new revision.',
    )
    .does(publish);
}

interface PublishOptions {
  readonly revision?: string;
  readonly activate?: boolean;
  readonly url?: string;
  readonly skipCases?: boolean;
}

async function publish(
  session: Session,
  workspace: string,
  id: string,
  path: string,
  { revision: revisionId, activate: activates = false, url, skipCases: skipsCases = false }: PublishOptions,
): Promise<CommandOutcome> {
  if (!activates && (url !== undefined || skipsCases))
    throw new UsageError('--url and --skip-cases go with --activate');
  if (url !== undefined && skipsCases) throw new UsageError('--url runs the cases that --skip-cases leaves out');
  const revisionText = await readRevision(session, path);
  const administration = await openAdministration(session, { writes: true });
  // The revision is a draft until its cases were run.
  const servesAtOnce = activates && url === undefined;
  const publication = { workspace, functionId: id, revision: revisionText, revisionId, skipsCases };
  const plan = await planPublication(administration, { ...publication, activates: servesAtOnce });
  if (!plan.ok) return problemsOutcome(path === '-' ? 'standard input' : path, plan.problems);
  const { id: revision, cases = [] } = plan.revision;
  const runsCases = url !== undefined && cases.length > 0;
  // Without a key nothing is stored.
  if (runsCases) await readCaseKey(session, workspace);
  if (servesAtOnce && !skipsCases && cases.length > 0) {
    const draft = await planPublication(administration, { ...publication, activates: false });
    const unjudged = draft.ok ? await writeDraft(draft, revision) : undefined;
    if (unjudged !== undefined) return draftOutcome(session, unjudged, { workspace, id, revision });
  }
  const { change, record } = await plan.write();
  const judging = runsCases ? judgeRevision(session, url, { names: { workspace, id }, revision }) : undefined;
  const judged = await judging?.catch((cause: Error) => {
    const storedNote = `gw/function/${id}@${revision} is stored: ${afterFailedCases(record, revision)}`;
    throw new Error(`${cause.message}; ${storedNote}`, { cause });
  });
  const isActivated = activates && judged?.isQualified !== false;
  const activation = { kind: 'activate', revision } as const;
  const published =
    isActivated && !servesAtOnce ? await changeFunction(administration, { workspace, id }, activation) : record;
  const outcome = functionOutcome(functionDocument(published, session.clock.nowMs()));
  const done = `${isActivated ? 'published and activated' : 'published'}: gw/function/${id}@${revision}`;
  return {
    json: { ...outcome.json, change, ...(judged && { qualified: judged.isQualified, cases: judged.cases }) },
    lines: (style) => [
      ...(judged ? [...caseLines(judged.cases, style), ''] : []),
      ...outcome.lines(style),
      change === 'unchanged' && published === record ? 'nothing changed' : done,
    ],
    failure:
      judged && !judged.isQualified ? `${failedOf(judged)}: ${afterFailedCases(published, revision)}` : undefined,
  };
}

type WrittenRevision = Awaited<ReturnType<Extract<Awaited<ReturnType<typeof planPublication>>, { ok: true }>['write']>>;

/** Stores the draft. Returns undefined for a revision that was activated already, or passed its cases. */
async function writeDraft(
  plan: Extract<Awaited<ReturnType<typeof planPublication>>, { ok: true }>,
  revision: string,
): Promise<WrittenRevision | undefined> {
  const written = await plan.write();
  const storedRevision = written.record.revisions.get(revision);
  return storedRevision?.state === 'draft' && storedRevision.qualifiedAtMs === null ? written : undefined;
}

function draftOutcome(
  session: Session,
  { change, record }: WrittenRevision,
  { workspace, id, revision }: { readonly workspace: string; readonly id: string; readonly revision: string },
): CommandOutcome {
  const { json, lines } = functionOutcome(functionDocument(record, session.clock.nowMs()));
  const name = `gw/function/${id}@${revision}`;
  return {
    json: { ...json, change },
    lines,
    failure: `${name} is stored as a draft, because its cases were not run: publish it again with --url URL, or run functions qualify ${workspace} ${id} ${revision} --url URL`,
  };
}

/** Describes failed cases. A formerly active revision does not become a draft again. */
function afterFailedCases({ active, revisions }: FunctionRecord, revision: string): string {
  if (revisions.get(revision)?.state !== 'activated') return 'a draft, not activated';
  return `activated before, ${active === revision ? 'and stays active' : 'not made active'}`;
}

async function readRevision({ terminal }: Session, path: string): Promise<string> {
  if (path === '-') return terminal.readInput(revisionMaxBytes);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`cannot read ${path}`);
  if (Buffer.byteLength(text) > revisionMaxBytes) throw new Error(`${path} holds more than ${revisionMaxBytes} bytes`);
  return text;
}
