// Reads a file as an operator gives it, and reports faults that only the model list reveals together with all other
// faults.
import { loadModelList, type ModelList } from '../model-list/index.ts';
import { completeCatalogue } from './complete-catalogue.ts';
import { gatewayFileSchema, type ReadResult, readSource } from './gateway-file.ts';
import { checkWith, type Issue, oncePerPlace, type Path, sortProblems, toProblem } from './problems.ts';
import { isMapping, readYaml } from './yaml-source.ts';

interface ListReadOptions {
  readonly modelList?: ModelList | undefined;
  /** AWS region in which the gateway runs, for providers without a region. */
  readonly region?: string | undefined;
}

/** Never throws. */
export async function readWithList(text: string, options: ListReadOptions = {}): Promise<ReadResult> {
  const source = readYaml(text);
  const read = readSource(source);
  // A file without other faults is completed when it is planned, from the stored values.
  if (read.ok || source.kind === 'unreadable') return read;
  const list = options.modelList ?? (await loadModelList());
  const issues = oncePerPlace([...read.issues, ...listIssues(source.value, read.issues, { ...options, list })]);
  return { ok: false, problems: sortProblems(issues.map((issue) => toProblem(issue, source.lineOf(issue.path)))) };
}

/** Returns issues of providers and models without another fault. */
function listIssues(
  value: unknown,
  faults: readonly Issue[],
  { list, region }: Omit<ListReadOptions, 'modelList'> & { readonly list: ModelList },
): Issue[] {
  if (!isMapping(value)) return [];
  const sound = (section: string) => {
    const items: unknown = value[section];
    const faulty = new Set(faults.flatMap(({ path: [name, index] }) => (name === section ? [index] : [])));
    if (!Array.isArray(items)) return [];
    return items.flatMap((item: unknown, index) => (faulty.has(index) ? [] : [{ item, index }]));
  };
  const [providers, models] = [sound('providers'), sound('models')];
  const rest = { providers: providers.map(({ item }) => item), models: models.map(({ item }) => item) };
  const result = checkWith(gatewayFileSchema, rest);
  if (!result.ok) return [];
  const { issues } = completeCatalogue(result.value, { former: undefined, list, region, nowMs: 0 });
  return issues.flatMap(({ path, message }) => {
    const [section, index, ...below] = path;
    // A stored provider has its region.
    if (section !== 'models') return [];
    const place: Path = [section, models[Number(index)]?.index ?? Number(index), ...below];
    return [{ path: place, message }];
  });
}
