// `models diff | update`: where the shipped model list differs from what is stored, and taking it over.
import { type ListDifference, planListUpdate } from '../../../shared/configuration/gateway-file/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readText } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';

export function addModels(program: CommandLine): void {
  const models = program
    .command('models')
    .description('what is stored of models, beside the model list of this release');
  models
    .command('diff')
    .description('where the shipped list differs from what is stored; exit 1 where it does')
    .notes('Nothing is written. Models that the list does not know, and providers without a kind, differ in nothing.')
    .does(showDifferences);
  models
    .command('update')
    .description('take the shipped list over: prices, bounds, features, modalities and interfaces of models')
    .takesArguments('[MODEL...]', readText)
    .takesOption('--dry-run', 'write nothing: show what would change')
    .notes(
      'Without MODEL all models. What the gateway file writes itself is taken over too; the next apply of the file writes it again.',
    )
    .does(update);
}

async function planUpdate(session: Session, models?: readonly string[], options?: { readonly writes: boolean }) {
  const { catalogues, clock } = await openAdministration(session, options);
  session.terminal.showProgress('comparing …');
  return { ...(await planListUpdate(catalogues, models)), clock };
}

async function showDifferences(session: Session): Promise<Outcome> {
  const { listDate, differences } = await planUpdate(session);
  return {
    ...outcomeOf(listDate, differences),
    ...(differences.length === 0 ? {} : { failure: failureOf(differences) }),
  };
}

const failureOf = (differences: readonly ListDifference[]): string =>
  `${differences.length} values of ${countModels(differences)} models differ; npm run gw -- models update takes them over`;

const countModels = (differences: readonly ListDifference[]): number =>
  new Set(differences.map(({ model }) => model)).size;

async function update(
  session: Session,
  models: readonly string[] | undefined,
  { dryRun: isDry = false }: { readonly dryRun?: boolean },
): Promise<Outcome> {
  const { listDate, differences: changes, write, clock } = await planUpdate(session, models, { writes: !isDry });
  if (!isDry) await write(clock.nowMs());
  const written = changes.filter(({ isWritten }) => isWritten).length;
  const notes =
    written === 0
      ? []
      : [`note: ${written} of them are written in the gateway file, whose next apply writes them again`];
  const { json, lines } = outcomeOf(listDate, changes);
  const done = isDry ? 'dry run, nothing was written' : `updated ${countModels(changes)} models`;
  return {
    json: { ...(json as object), dry_run: isDry, notes },
    lines: (style) => [...lines(style), ...(changes.length === 0 ? [] : [...notes, done])],
  };
}

const outcomeOf = (date: string, differences: readonly ListDifference[]): Outcome => ({
  json: { list_date: date, differences: differences.map((one) => fieldJson(fields, one)) },
  lines: (style) =>
    differences.length === 0
      ? [`nothing differs from the model list of ${date}`]
      : [...fieldTable(fields, differences, style), `model list of ${date}`],
});

/** As it is in JSON where it is plain. */
const told = (value: unknown): string | number | boolean | null =>
  value === undefined ? null : typeof value === 'number' || typeof value === 'boolean' ? value : shown(value);

const shown = (value: unknown): string =>
  value === undefined ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);

const fields: readonly Field<ListDifference>[] = [
  { member: 'model', title: 'model', isFlexible: true, value: ({ model }) => model },
  { member: 'provider', title: 'provider', value: ({ provider }) => provider },
  { member: 'member', title: 'member', value: ({ member }) => member },
  {
    member: 'stored',
    title: 'stored',
    isFlexible: true,
    value: ({ stored }) => told(stored),
    shown: ({ stored }) => shown(stored),
  },
  {
    member: 'listed',
    title: 'in the list',
    isFlexible: true,
    value: ({ listed }) => told(listed),
    shown: ({ listed }) => shown(listed),
  },
  {
    member: 'written_in_file',
    title: 'in the file',
    value: ({ isWritten }) => isWritten,
    shown: ({ isWritten }) => (isWritten ? 'yes' : ''),
  },
];
