// Runs commands that make one request of the management interface, in this process. The arguments of a command line
// fill the request, and the answer becomes columns.

import type { ManagementDependencies } from '../../../functions/operator/dependencies.ts';
import { perform } from '../../../functions/operator/perform.ts';
import {
  type AnswerOf,
  type CommandWords,
  type ManagementRoute,
  managementRoutes,
  type RouteName,
  type RouteOf,
  routeOf,
} from '../../../shared/configuration/management/index.ts';
import { programs } from '../../../shared/foundation/constants/index.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openManagement } from '../target/stores.ts';
import type { CommandLine } from './command-line.ts';
import { none, type ParseOption, type ParseRepeatedOption, readText, UsageError } from './option-values.ts';
import { type CommandOutcome, confirm, type Session } from './session.ts';

/** A request as the command line fills it. */
export interface LineRequest {
  readonly names: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  /** Values that are not sent, because they select the part of the answer to show. */
  readonly shown: Record<string, unknown>;
}

/** A value that is computed when the command runs, such as an end in 90 days. */
export type LaterValue = (session: Session) => unknown;

export interface LineInput {
  /** Name and value, such as `WORKSPACE`, `[MODEL...]` or `--rpm <N>`, or a switch such as `--dry-run`. */
  readonly flags: string;
  /** Place of the value in the request: `names.id`, `query.workspace`, `body.member_keys.rpm`. */
  readonly place: string;
  /** Parser of the value; undefined for a switch. */
  readonly read?: ParseOption | undefined;
  readonly summary?: string;
  readonly isRequired?: boolean;
  /** Set if the option may be repeated. */
  readonly readAll?: ParseRepeatedOption;
  /** Value if the command line has none. */
  readonly absent?: LaterValue;
}

type More = Pick<LineInput, 'isRequired' | 'readAll' | 'absent'>;

export const input = (flags: string, place: string, read?: ParseOption, summary = '', more: More = {}): LineInput => ({
  flags,
  place,
  read,
  summary,
  ...more,
});

export const search: LineInput = input(
  '--search <TEXT>',
  'query.search',
  readText,
  'those with this text in a name or id, in any case',
);

export interface CallCommand<Name extends RouteName> {
  /** Replaces the summary of its route. */
  readonly summary?: string;
  readonly takes?: readonly LineInput[];
  /** Query parameters of every request of the command. */
  readonly query?: Readonly<Record<string, string>>;
  /** Example of the words between the command's name and the store. */
  readonly example: string;
  readonly notes?: readonly string[];
  /** Selects another request by the arguments, with an answer that `shows` reads too. */
  readonly route?: (request: LineRequest) => RouteName | undefined;
  /** Checks combinations of options. Throws UsageError. */
  readonly checks?: (request: LineRequest) => void;
  /** Finds the request's object by other arguments. */
  readonly resolves?: (request: LineRequest, deps: ManagementDependencies) => Promise<void>;
  /** Returns the question before a request that removes access; undefined for no question. */
  readonly asks?: (request: LineRequest, deps: ManagementDependencies, session: Session) => Promise<string | undefined>;
  readonly shows: (answer: AnswerOf<Name>, done: Done) => CommandOutcome;
}

interface Done {
  readonly request: LineRequest;
  readonly change: 'changed' | 'unchanged';
}

/** Defines a command for every command of the group that the table of routes names. */
export type CallCommands<Group extends string> = {
  readonly [Words in Extract<CommandWords, `${Group} ${string}`>]: CallCommand<RouteOf<Words>>;
};

export function addCallCommands<Group extends string>(group: CommandLine, commands: CallCommands<Group>): void {
  for (const [words, row] of Object.entries(commands) as [CommandWords, CallCommand<RouteName>][]) {
    const { summary }: ManagementRoute = managementRoutes[routeOf(words)];
    const description = row.summary ?? summary.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase());
    const command = group.command(words.split(' ')[1] ?? '').description(description);
    for (const input of row.takes ?? []) declare(command, input);
    if (row.asks !== undefined) command.asks();
    command
      .notes(
        ...(row.notes ?? []),
        `Example: ${[programs.commandLine, words, row.example, '--stage dev'].filter(Boolean).join(' ')}`,
      )
      .does((session, ...actionArguments: unknown[]) => call(session, words, row, actionArguments));
  }
}

/** Returns the answer of a request that only reads. */
export async function performOn<Name extends RouteName>(
  session: Session,
  name: Name,
  request: Partial<LineRequest>,
): Promise<AnswerOf<Name>> {
  session.terminal.showProgress('reading …');
  return (await perform(await openManagement(session), name, request)).answer;
}

const isOption = ({ flags }: LineInput): boolean => flags.startsWith('-');

function declare(command: CommandLine, input: LineInput): void {
  const { flags, summary = '', read, readAll, isRequired } = input;
  if (readAll !== undefined) command.takesRepeatedOption(flags, summary, readAll);
  else if (isOption(input) && read !== undefined && isRequired) command.requiresOption(flags, summary, read);
  else if (isOption(input)) command.takesOption(flags, summary, read);
  else if (read !== undefined) command.takesArgument(flags, read);
}

async function call(
  session: Session,
  words: CommandWords,
  { takes = [], query = {}, route: otherRoute, checks, resolves, asks, shows }: CallCommand<RouteName>,
  actionArguments: readonly unknown[],
): Promise<CommandOutcome> {
  const request = requestOf(session, takes, actionArguments);
  Object.assign(request.query, query);
  checks?.(request);
  const route = otherRoute?.(request) ?? routeOf(words);
  if (route.startsWith('PATCH') && Object.keys(request.body).length === 0) {
    throw new UsageError(`say what to change: see ${words} --help`);
  }
  const writes = !route.startsWith('GET') && request.query.dry_run !== 'true';
  const deps = await openManagement(session, { writes });
  await resolves?.(request, deps);
  const question = await asks?.(request, deps, session);
  if (question !== undefined) await confirm(session, question);
  session.terminal.showProgress(writes ? 'writing …' : 'reading …');
  const { answer, isChanged } = await perform(deps, route, request);
  return shows(answer, { request, change: isChanged ? 'changed' : 'unchanged' });
}

/** Returns the request of the parsed arguments in their order, followed by the options. Throws UsageError. */
function requestOf(session: Session, takes: readonly LineInput[], actionArguments: readonly unknown[]): LineRequest {
  const request: LineRequest = { names: {}, query: {}, body: {}, shown: {} };
  const options = (actionArguments.at(-1) ?? {}) as Readonly<Record<string, unknown>>;
  const positions = takes.filter((input) => !isOption(input));
  for (const input of takes) {
    const written = isOption(input) ? options[attributeOf(input.flags)] : actionArguments[positions.indexOf(input)];
    const later = written === undefined ? input.absent : written;
    const value = typeof later === 'function' ? (later as LaterValue)(session) : later;
    if (value !== undefined) put(request, input.place, value);
  }
  return request;
}

/** Returns the name that commander gives an option: `--spend-limit <USD>` becomes spendLimit. */
const attributeOf = (flags: string): string =>
  (/--([a-z-]+)/.exec(flags)?.[1] ?? '').replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());

function put(request: LineRequest, place: string, value: unknown): void {
  const path = place.split('.');
  const last = path.pop() ?? '';
  let inner = request as unknown as Record<string, unknown>;
  for (const name of path) {
    inner[name] ??= {};
    inner = inner[name] as Record<string, unknown>;
  }
  // A switch is a word in a query.
  inner[last] = path[0] === 'query' && value === true ? 'true' : value === none ? null : value;
}

/** Shows a list as columns for people, and under its name as JSON. */
export const shownList =
  <Item>(name: string, fields: readonly Field<Item>[], ifEmpty: string) =>
  ({ data }: { readonly data: readonly Item[] }): CommandOutcome => ({
    json: { [name]: data.map((item) => fieldJson(fields, item)) },
    lines: (style) => (data.length === 0 ? [ifEmpty] : fieldTable(fields, data, style)),
  });
