// Shows the stored models and their differences from the shipped model list, and updates them from it (`models list |
// diff | update`).

import type { Documents } from '../../../shared/configuration/management/index.ts';
import { programs } from '../../../shared/foundation/constants/index.ts';
import { addCallCommands, type CallCommands, input, search, shownList } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readText } from '../args/option-values.ts';
import type { CommandOutcome } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';

export const addModels = (program: CommandLine): void =>
  addCallCommands<'models'>(
    program.command('models').description('what is stored of models, beside the model list of this release'),
    modelCommands,
  );

type Update = Documents['ManagedListUpdate'];

/** Returns the value itself if it is a scalar, as in JSON. */
const cellValue = (value: unknown): string | number | boolean | null =>
  value === null || typeof value === 'number' || typeof value === 'boolean' ? value : shown(value);

const shown = (value: unknown): string =>
  value === null ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);

const value = (member: 'stored' | 'listed', title: string): Field<Update['differences'][number]> => ({
  member,
  title,
  isFlexible: true,
  value: (one) => cellValue(one[member]),
  shown: (one) => shown(one[member]),
});

const fields: readonly Field<Update['differences'][number]>[] = [
  { member: 'model', title: 'model', isFlexible: true, value: ({ model }) => model },
  { member: 'provider', title: 'provider', value: ({ provider }) => provider },
  { member: 'member', title: 'member', value: ({ member }) => member },
  value('stored', 'stored'),
  value('listed', 'in the list'),
  {
    member: 'written_in_file',
    title: 'in the file',
    value: ({ written_in_file }) => written_in_file,
    shown: ({ written_in_file }) => (written_in_file ? 'yes' : ''),
  },
];

const outcomeOf = ({ list_date, differences }: Update): CommandOutcome & { readonly json: object } => ({
  json: { list_date, differences: differences.map((one) => fieldJson(fields, one)) },
  lines: (style) =>
    differences.length === 0
      ? [`nothing differs from the model list of ${list_date}`]
      : [...fieldTable(fields, differences, style), `model list of ${list_date}`],
});

const modelFields: readonly Field<Documents['ManagedModel']>[] = [
  { member: 'id', title: 'model', isFlexible: true, value: ({ id }) => id },
  { member: 'display_name', title: 'name', isFlexible: true, leftOut: 1, value: (model) => model.display_name },
  { member: 'context_length', title: 'context', align: 'right', value: (model) => model.context_length },
  { member: 'modalities', title: 'takes', leftOut: 2, value: ({ modalities }) => modalities },
  {
    member: 'providers',
    title: 'providers',
    isFlexible: true,
    value: ({ providers }) => providers.map(({ provider }) => provider),
  },
];

const modelCommands: CallCommands<'models'> = {
  'models list': {
    summary: 'the models that are stored',
    takes: [search],
    example: '--search gpt',
    notes: ['The text is also searched for in the ids of providers and in their names for the models.'],
    shows: shownList('models', modelFields, 'there are no such models'),
  },
  'models diff': {
    summary: 'where the shipped list differs from what is stored; exit 1 where it does',
    query: { dry_run: 'true' },
    example: '',
    notes: ['Nothing is written. Models that are not in the list, and providers without a kind, are not compared.'],
    shows: ({ data }) => {
      const { differences, models } = data;
      const failure = `${differences.length} values of ${models.length} models differ; ${programs.commandLine} models update takes them over`;
      return { ...outcomeOf(data), ...(differences.length === 0 ? {} : { failure }) };
    },
  },
  'models update': {
    summary: 'take the shipped list over: prices, bounds, features, modalities and interfaces of models',
    takes: [
      input('[MODEL...]', 'body.models', readText),
      input('--dry-run', 'query.dry_run', undefined, 'write nothing: show what would change'),
    ],
    example: 'openai/gpt-5.4 --dry-run',
    notes: [
      'Without MODEL: all models. Values that the gateway file sets are replaced too, until the file is applied again.',
    ],
    shows: ({ data }, { request }) => {
      const isDry = request.query.dry_run === 'true';
      const { differences, models } = data;
      const written = differences.filter(({ written_in_file }) => written_in_file).length;
      const notes =
        written === 0
          ? []
          : [`note: ${written} of them are written in the gateway file, whose next apply writes them again`];
      const { json, lines } = outcomeOf(data);
      const done = isDry ? 'dry run, nothing was written' : `updated ${models.length} models`;
      return {
        json: { ...json, dry_run: isDry, notes },
        lines: (style) => [...lines(style), ...(differences.length === 0 ? [] : [...notes, done])],
      };
    },
  },
};
