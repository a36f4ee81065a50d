// The gateway file of a file of LiteLLM: read again as every gateway file is, so that what it cannot take is a comment and
// the rest starts.
import { type Path, readWithList, yamlText } from '../../../shared/configuration/gateway-file/index.ts';
import { loadModelList } from '../../../shared/configuration/model-list/index.ts';
import { readDeployment } from './deployments.ts';
import { importGuardrails } from './guardrails.ts';
import { importService, importWorkspace, reasonFor } from './limits.ts';
import { importModels } from './models.ts';
import { ImportedProviders } from './providers.ts';
import { type ImportNote, LiteLlmSource, type Mapping } from './source.ts';

interface ImportedFile {
  readonly text: string;
  readonly notes: readonly ImportNote[];
}

/** A region for providers of AWS that name none. */
const regionDefault = 'us-east-1';
/** Each round leaves out at least one item. */
const roundsMax = 200;

/** Rejects with an Error with one line for the terminal. */
export async function importLiteLlm(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ImportedFile> {
  const source = new LiteLlmSource(text, variables);
  if (!Array.isArray(source.look(['model_list']))) throw new Error('is no file of LiteLLM: it has no model_list');
  const context = { source, providers: new ImportedProviders(source), list: await loadModelList() };
  const deployments = source
    .list(['model_list'])
    .flatMap((_item, at) => readDeployment(context, ['model_list', at]) ?? []);
  const guardrails = importGuardrails(source);
  const models = importModels(context, deployments);
  const ids = models.flatMap(({ item }) => ('id' in item ? [item.id] : []));
  const parts: Parts = {
    service: importService(source),
    models,
    providers: context.providers.list().map((item) => ({ item })),
    guardrails: guardrails.map(({ path, guardrail }) => ({ path, item: guardrail })),
    workspace: importWorkspace(
      source,
      guardrails.filter(({ isDefault }) => isDefault).map(({ guardrail: { id } }) => id),
      ids,
    ),
  };
  const file = await startable(source, parts);
  const notes = source.notes(reasonFor);
  return { text: `${head(notes)}${file}`, notes };
}

interface Part {
  /** In the file of LiteLLM; absent where several of its items made it. */
  readonly path?: Path;
  readonly item: unknown;
}
interface Parts {
  readonly service: Mapping | undefined;
  readonly providers: readonly Part[];
  readonly models: readonly Part[];
  readonly guardrails: readonly Part[];
  readonly workspace: Mapping;
}

/** Leaves out what the reader of gateway files refuses, with its reason as a comment. */
async function startable(source: LiteLlmSource, all: Parts): Promise<string> {
  let parts = all;
  for (let round = 0; round < roundsMax; round += 1) {
    const text = fileText(parts);
    const read = await readWithList(text, { region: regionDefault });
    if (read.ok) return text;
    const faulty = read.problems.flatMap(({ path, message }) => {
      const [, section, index] = /^(models|guardrails)\[(\d+)\]/.exec(path) ?? [];
      return section === undefined
        ? []
        : [{ section: section as 'models' | 'guardrails', index: Number(index), message }];
    });
    const [first] = faulty;
    const [problem] = read.problems;
    if (first === undefined) throw new Error(`cannot become a gateway file: ${problem?.path}: ${problem?.message}`);
    const outside = parts[first.section][first.index];
    source.note(outside?.path ?? [first.section], `is left out: ${first.message}`);
    parts = { ...parts, [first.section]: parts[first.section].filter((_part, at) => at !== first.index) };
  }
  throw new Error(`cannot become a gateway file: more than ${roundsMax} of its items are refused`);
}

function fileText({ service, providers, models, guardrails, workspace }: Parts): string {
  const itemsOf = (parts: readonly Part[]) => parts.map(({ item }) => item);
  const ids = new Set(guardrails.map(({ item }) => (item as { readonly id: string }).id));
  const named = ((workspace.guardrails as readonly string[] | undefined) ?? []).filter((id) => ids.has(id));
  const { guardrails: _named, ...rest } = workspace;
  return yamlText({
    ...(service && { service }),
    providers: itemsOf(providers),
    models: itemsOf(models),
    ...(guardrails.length > 0 && { guardrails: itemsOf(guardrails) }),
    workspaces: [{ ...rest, ...(named.length > 0 && { guardrails: named }) }],
  });
}

function head(notes: readonly ImportNote[]): string {
  const lines = [
    'Made of a file of LiteLLM. credit_usd is what the workspace may spend in all: set yours.',
    ...(notes.length === 0 ? [] : ['By the line of that file, what is not here as it was there:']),
    ...notes.map(({ line, text }) => `line ${line}: ${text}`),
  ];
  return lines.map((line) => `# ${line.replace(/[\r\n\u2028\u2029]+/g, ' ')}\n`).join('');
}
