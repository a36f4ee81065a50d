// Shows finished calls from their records (`calls`), and everything about one call, with its stored bodies on request
// (`calls show`).
import { contentOf } from '../../../functions/operator/reports/serve-content.ts';
import {
  type CallDocument,
  type CallRecord,
  callDocument,
  csvHeader,
  csvLine,
  describePath,
  operatorCallDocument,
} from '../../../shared/accounting/call-records/index.ts';
import {
  type CallFilter,
  type CallOrder,
  type CallPageQuery,
  callOrders,
  findCall,
  findCalls,
  matchesFilter,
  readCallPage,
} from '../../../shared/accounting/reports/index.ts';
import { readWorkspaces } from '../../../shared/configuration/administration/index.ts';
import { interfaceIds, refusalRecordsPerSecond, unitsText } from '../../../shared/foundation/constants/index.ts';
import { escapeControls } from '../../../shared/foundation/log/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { formatTags, type Tags } from '../../../shared/protocol/wire/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import {
  readChoice,
  readId,
  readLength,
  readMoreTags,
  readPositiveInteger,
  readSince,
  readText,
  UsageError,
} from '../args/option-values.ts';
import type { CommandOutcome, LineByLine, Session } from '../args/session.ts';
import { attemptLines, contentLines, guardrailLines } from '../output/shown-call.ts';
import { type Field, fieldTable, memberLines } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';

/** Names a key with its workspace, because keys of several workspaces may have the same name. */
const keyText = ({ workspace, key_name, key_public_id }: CallDocument): string =>
  `${workspace}/${key_name ?? key_public_id}`;

const sinceDefault = '1d';
const limitDefault = 50;
const limitMax = 1_000;
/** Lifetime of records. `calls show` searches this whole period for an id without a time. */
const recordLifeDays = '90d';

export function addCalls(program: CommandLine): void {
  const calls = program.command('calls').description('finished and refused calls, newest first');
  calls
    .takesOption('--since <WHEN>', `90s, 15m, 1h, 7d, or a day of UTC; default ${sinceDefault}`, readText)
    .takesOption('--failed', 'only calls whose client got no complete response')
    .takesOption('--refused', 'only calls that were refused to their client, as with a 400 or 429')
    .takesOption('--faults', 'only failures of the gateway and its providers')
    .takesOption('--code <CODE>', 'only calls that were answered with this error code', readText)
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .takesOption('--key <NAME>', 'of keys with this name or public id', readText)
    .takesOption('--model <M>', 'that asked for this model or were answered by it', readText)
    .takesOption('--provider <P>', 'with an attempt at this provider', readText)
    .takesOption('--interface <I>', `through this one: ${interfaceIds.join(', ')}`, readChoice(interfaceIds))
    .takesOption('--session <ID>', 'of this session, as its client named it', readText)
    .takesRepeatedOption('--tag <NAME=VALUE>', 'with this tag; several: with all of them', readMoreTags)
    .takesOption('--search <TEXT>', 'with this text in a name or id, in any case', readText)
    .takesOption('--slow <TIME>', 'that took at least so long: 500ms, 5s, 1m', readLength)
    .takesOption(
      '--sort <ORDER>',
      `${callOrders.join(', ')}: the newest, dearest or slowest first; default time`,
      readOrder,
    )
    .takesOption('--limit <N>', `at most so many, up to ${limitMax}; default ${limitDefault}`, readLimit)
    .takesOption('--csv', 'all that are found, as CSV; --limit bounds them')
    .takesOption('--follow', 'the last ones, then each as it ends, until it is stopped; with --json a document a line')
    .does(listCalls);
  calls
    .command('show')
    .description('all of one call, by the x-request-id of its answer')
    .takesArgument('ID', readId)
    .takesOption('--content', 'its bodies too, where its workspace keeps them')
    .does(showCall);
}

const readOrder = readChoice(callOrders);

function readLimit(name: string, text: string): number {
  const limit = readPositiveInteger(name, text);
  if (limit <= limitMax) return limit;
  throw new UsageError(`${name} is at most ${limitMax}`);
}

interface ListOptions extends Omit<CallFilter, 'totalMsMin' | 'tags' | 'outcome'> {
  readonly refused?: boolean;
  readonly faults?: boolean;
  readonly csv?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly tag?: Tags;
  readonly since?: string;
  readonly workspace?: string;
  readonly slow?: number;
  readonly sort?: CallOrder;
  readonly limit?: number;
}

async function listCalls(session: Session, options: ListOptions): Promise<CommandOutcome | LineByLine> {
  checkTogether(options);
  const { since = sinceDefault, workspace, tag: tags, slow: totalMsMin, refused, faults } = options;
  const { sort: order = 'time', limit = limitDefault } = options;
  const nowMs = session.clock.nowMs();
  const sinceMs = readSince('--since', since, nowMs);
  const administration = await openAdministration(session);
  session.terminal.showProgress('reading records …');
  const outcome = refused === true ? 'refused' : faults === true ? 'failed' : undefined;
  const query = {
    records: administration.records,
    workspaces: (await readWorkspaces(administration, workspace)).map(({ id }) => id),
    matches: (record: CallRecord) => matchesFilter(record, { ...options, outcome, tags, totalMsMin }),
  };
  if (options.follow === true) {
    const lineOf = (call: CallRecord) =>
      options.json === true ? escapeControls(JSON.stringify(callDocument(call))) : followLine(call);
    return { lineByLine: mapLines(newCalls(query, session.clock, options.limit ?? followedDefault), lineOf) };
  }
  if (options.csv === true) return { lineByLine: csvLines({ ...query, sinceMs, nowMs }, options.limit) };
  // A call that arrived in this millisecond is included.
  const calls = await findCalls({ ...query, sinceMs, beforeMs: nowMs + 1, limit, order });
  const shown = calls.map(shownCall);
  return {
    json: calls.map(callDocument),
    lines: (style) =>
      calls.length === 0
        ? [`no such calls since ${new Date(sinceMs).toISOString()}`]
        : fieldTable(callFieldsOf(shown), shown, style),
  };
}

/** Number of earlier calls that are shown before new calls. */
const followedDefault = 10;

/** Checks combinations of options. Throws UsageError. */
function checkTogether({ csv, follow, json, sort, since, refused, faults }: ListOptions): void {
  if (refused === true && faults === true) throw new UsageError('--refused and --faults exclude each other: give one');
  if (csv === true && json === true) throw new UsageError('--csv and --json are two forms: give one');
  if (csv === true && follow === true) throw new UsageError('--csv lists what there is, --follow what comes: give one');
  if ((csv === true || follow === true) && sort !== undefined && sort !== 'time') {
    throw new UsageError('--csv and --follow list calls by time: leave --sort out');
  }
  if (follow === true && since !== undefined) throw new UsageError('--follow begins now: leave --since out');
}

async function* mapLines<Value>(values: AsyncIterable<Value>, lineOf: (value: Value) => string) {
  for await (const value of values) yield lineOf(value);
}

async function showCall(session: Session, id: string, { content: showsContent }: ShowOptions): Promise<CommandOutcome> {
  const administration = await openAdministration(session);
  const nowMs = session.clock.nowMs();
  session.terminal.showProgress('reading records …');
  const search = {
    records: administration.records,
    workspaces: (await readWorkspaces(administration)).map((workspace) => workspace.id),
    sinceMs: readSince('', recordLifeDays, nowMs),
    beforeMs: nowMs + 1,
  };
  const record = await findCall(search, id);
  if (record === undefined) {
    const bound = `of refused calls a process records at most ${refusalRecordsPerSecond} a second and key`;
    throw new Error(`there is no record of a call ${id}; ${bound}: the others stand only in its log`);
  }
  const document = operatorCallDocument(record);
  const content =
    showsContent === true
      ? await contentOf({ ...administration, blobs: (await session.open()).blobs }, record)
      : undefined;
  return {
    json: content === undefined ? document : { ...document, content },
    lines: (style) => [
      ...memberLines(
        { ...document, units: record.units && unitsText(record.units), tags: record.tags && formatTags(record.tags) },
        (value) => (value === undefined || value === null || typeof value === 'object' ? undefined : String(value)),
      ),
      '',
      ...(record.attemptLog === undefined || record.attemptLog.length === 0
        ? [`attempts: ${describePath(record) ?? '-'}`]
        : attemptLines(record.attemptLog, style)),
      ...(content === undefined ? [] : contentLines(content)),
      ...guardrailLines(record, style),
    ],
  };
}

interface ShowOptions {
  readonly content?: boolean;
}

/** The document of a call, with its attempts at providers. */
interface ShownCall extends CallDocument {
  readonly path: string | undefined;
}

const shownCall = (record: CallRecord): ShownCall => ({ ...callDocument(record), path: describePath(record) });

/** Returns the model; for a function its own id. */
const modelOf = ({ function_id, model, model_asked }: ShownCall) =>
  (function_id === null ? model : null) ?? model_asked;

/**
 * Returns the columns. The interface is shown if some call had another interface than chat completions, the payer if it
 * was not credit, and tags if a call has some.
 */
const callFieldsOf = (calls: readonly ShownCall[]): readonly Field<ShownCall>[] =>
  callFields.filter(
    ({ title }) =>
      (title !== 'paid by' || calls.some(({ is_byok }) => is_byok)) &&
      (title !== 'interface' || calls.some((call) => isOtherInterface(call.interface))) &&
      (title !== 'tags' || calls.some(({ tags }) => tags !== null)),
  );

/**
 * Returns whether the call had another interface. Null is the interface of releases which had only chat completions.
 */
const isOtherInterface = (name: string | null): boolean => name !== null && name !== 'chat-completions';

/** Lists the columns of a call. Columns that identify it are dropped last; time, outcome and id never are. */
const callFields: readonly Field<ShownCall>[] = [
  { title: 'time (UTC)', value: ({ created_at }) => created_at.slice(0, 19).replace('T', ' ') },
  {
    title: 'outcome',
    isFlexible: true,
    value: outcomeText,
  },
  { title: 'model', isFlexible: true, leftOut: 8, value: modelOf },
  { title: 'path', isFlexible: true, leftOut: 5, value: ({ path }) => path },
  { title: 'ms', align: 'right', leftOut: 7, value: ({ total_ms }) => total_ms },
  { title: 'first', align: 'right', leftOut: 1, value: ({ first_output_ms }) => first_output_ms },
  {
    title: 'tokens',
    align: 'right',
    leftOut: 2,
    value: ({ prompt_tokens, completion_tokens, units }) =>
      units === null ? `${prompt_tokens}+${completion_tokens}` : unitsText(units),
  },
  { title: 'cost USD', align: 'decimal', leftOut: 6, value: ({ cost_usd }) => cost_usd },
  { title: 'paid by', leftOut: 3, value: ({ is_byok }) => (is_byok ? 'BYOK' : '') },
  { title: 'interface', leftOut: 3, value: (call) => call.interface },
  { title: 'tags', isFlexible: true, leftOut: 4, value: ({ tags }) => tags },
  { title: 'key', isFlexible: true, leftOut: 4, value: keyText },
  { title: 'id', value: ({ id }) => id },
];

// Prints calls as they are found: all calls that match a filter as CSV, or calls that end from now on.

type Query = Pick<CallPageQuery, 'records' | 'workspaces' | 'matches'>;

const pageCalls = 1_000;

/** Yields the newest calls first. */
async function* csvLines(
  query: Query & Pick<CallPageQuery, 'sinceMs' | 'nowMs'>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  yield csvHeader;
  let [before, remaining] = [undefined as string | undefined, limit];
  do {
    const { calls, next } = await readCallPage({ ...query, before, limit: Math.min(pageCalls, remaining) });
    yield* calls.map(csvLine);
    remaining -= calls.length;
    before = next;
  } while (before !== undefined && remaining > 0);
}

const pollMs = 2_000;
/** Longest duration of a call. A record is written when its call has ended, under the time at which the call began. */
const longestCallMs = 15 * 60_000;
/** If more calls than this are new, they are printed when they are no longer the newest. */
const newMax = 1_000;

/**
 * Yields the last `shown` calls first, then each call as it ends, so that the newest is at the end. Continues until the
 * process is stopped.
 */
async function* newCalls(query: Query, clock: Clock, shown: number): AsyncGenerator<CallRecord> {
  const arrivalById = new Map<string, number>();
  const startedAtMs = clock.nowMs();
  for (let isFirst = true; ; isFirst = false) {
    const nowMs = clock.nowMs();
    const sinceMs = nowMs - longestCallMs;
    const calls = await findCalls({ ...query, sinceMs, beforeMs: nowMs + 1, limit: newMax });
    const fresh = calls.filter(({ executionId }) => !arrivalById.has(executionId)).reverse();
    for (const { executionId, arrivedAtMs } of fresh) arrivalById.set(executionId, arrivedAtMs);
    for (const [id, arrivedAtMs] of arrivalById) if (arrivedAtMs < sinceMs) arrivalById.delete(id);
    yield* isFirst ? fresh.slice(-shown) : fresh.filter((call) => call.arrivedAtMs + call.totalMs >= startedAtMs);
    await new Promise<void>((resolve) => clock.after(pollMs, resolve));
  }
}

/** Describes the outcome: `cut CODE` for a stream that broke, and which guardrail blocked the request or the answer. */
function outcomeText({ outcome, error_code, blocked_by }: CallDocument): string {
  const text = outcome === 'cut' && error_code !== null ? `cut ${error_code}` : outcome;
  return blocked_by === null ? text : `${text} (guardrail ${blocked_by})`;
}

/** Returns a line whose columns have fixed widths, because later calls are unknown. */
function followLine(call: CallRecord): string {
  const document = callDocument(call);
  const { created_at, model, model_asked, total_ms, cost_usd, id } = document;
  return [
    created_at.slice(0, 19).replace('T', ' '),
    outcomeText(document).padEnd(12),
    (model ?? model_asked ?? '-').padEnd(24),
    (describePath(call) ?? '-').padEnd(24),
    `${total_ms} ms`.padStart(9),
    cost_usd.padEnd(12),
    keyText(document).padEnd(10),
    id,
  ].join('  ');
}
