// `functions list | show | compare | activate | disable | enable`: stored functions and the transitions that an operator asks for.
// Which transitions are allowed is decided in the store of functions.
import { readFunction } from '../../../shared/configuration/administration/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { compareLines } from '../../../shared/foundation/lines/index.ts';
import { addCallCommands, type CallCommands, input, type LineInput, search } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId } from '../args/option-values.ts';
import { functionFields, functionJson, functionOutcome, revisionFields } from '../output/stored-functions.ts';
import { fieldTable } from '../output/table.ts';
import { addQualify } from './qualify.ts';
import { addPublish } from './revisions.ts';

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

/** A revision as the gateway file writes it, line by line. Throws an Error where there is no such revision. */
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
      // A revision alone is the input of `publish`.
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
