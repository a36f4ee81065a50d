// Checks the references of a stored function: models, its active revision, its steps, and the paths of its templates.
import {
  findCycle,
  formatReference,
  parseTemplate,
  type Reference,
  type StepNeeds,
  stepsMax,
} from '../stored-functions/index.ts';
import {
  checkKnown,
  checkModel,
  checkUnique,
  entries,
  type KnownModels,
  member,
  type Node,
  namesIn,
  type Report,
  textOf,
} from './node.ts';
import { quote, suggest } from './problems.ts';
import { isMapping } from './yaml-source.ts';

export function checkFunction(declared: Node, models: KnownModels | undefined, report: Report): void {
  const revisions = member(declared, 'revisions');
  checkUnique([revisions], 'id', report);
  checkActive(member(declared, 'active'), entries(revisions), report);
  const isWorkflow = member(declared, 'kind').value === 'workflow';
  for (const revision of entries(revisions)) {
    checkRevision(revision, models, report);
    if (isWorkflow) checkWorkflow(revision, models, report);
    else checkMessages(revision, { input: member(revision, 'input'), steps: undefined }, report);
  }
}

function checkActive(active: Node, revisions: readonly Node[], report: Report): void {
  const id = textOf(active);
  const revision = revisions.find((candidate) => member(candidate, 'id').value === id);
  // A revision that the file omits, or whose state it omits, may be stored and activated.
  if (id === undefined || revision === undefined || member(revision, 'state').value !== 'draft') return;
  report(active, `names the revision ${quote(id)}, whose state is draft: write state: activated, or leave active out`);
}

function checkRevision(revision: Node, models: KnownModels | undefined, report: Report): void {
  checkModels(revision, models, report);
  const [expiresAt, validFor] = [member(revision, 'expires_at'), member(revision, 'valid_for')];
  if (textOf(expiresAt) !== undefined && textOf(validFor) !== undefined) {
    report(validFor, 'cannot stand beside expires_at');
  }
  const isText = (member(member(revision, 'input'), 'type').value ?? 'text') === 'text';
  for (const input of entries(member(revision, 'cases')).map((testCase) => member(testCase, 'input'))) {
    if (input.value === undefined || (typeof input.value === 'string') === isText) continue;
    report(input, isText ? 'must be text, as the declared input is' : 'must be a mapping, as the declared input is');
  }
}

function checkModels(caller: Node, models: KnownModels | undefined, report: Report): void {
  for (const at of [member(caller, 'model'), ...entries(member(caller, 'fallback_models'))]) {
    checkModel(at, models, report);
  }
}

/** Values to which a template may refer. Without steps it is a prompt. */
interface Scope {
  readonly input: Node;
  readonly steps: readonly Node[] | undefined;
}

function checkWorkflow(revision: Node, models: KnownModels | undefined, report: Report): void {
  const list = member(revision, 'steps');
  const steps = entries(list);
  const scope = { input: member(revision, 'input'), steps };
  checkUnique([list], 'id', report);
  const graph: StepNeeds[] = [];
  for (const step of steps) {
    checkModels(step, models, report);
    graph.push({ id: textOf(member(step, 'id')) ?? '', needs: checkMessages(step, scope, report) });
  }
  const cycle = graph.length > stepsMax ? undefined : findCycle(graph);
  if (cycle !== undefined) report(list, `form a cycle: ${[...cycle, cycle[0]].join(' needs ')}`);
  const output = member(revision, 'output');
  checkTemplate(output, scope, report);
  checkKnown(member(output, 'step'), namesIn(list, 'id'), 'step', 'steps of this revision', report);
}

/** Checks every template of some messages and returns the steps they need. */
function checkMessages(caller: Node, scope: Scope, report: Report): string[] {
  return entries(member(caller, 'messages')).flatMap((message) => {
    const content = member(message, 'content');
    const texts = [content, ...entries(content).map((part) => member(part, 'text'))];
    return texts.flatMap((text) => checkTemplate(text, scope, report));
  });
}

function checkTemplate(at: Node, scope: Scope, report: Report): string[] {
  const template = parseTemplate(textOf(at) ?? '');
  if (!template.ok) {
    report(at, template.message);
    return [];
  }
  const references = template.parts.filter((part) => typeof part !== 'string');
  for (const reference of references) {
    const message = faultOf(reference, scope);
    if (message !== undefined) report(at, message);
  }
  return references.flatMap((reference) => reference.step ?? []);
}

function faultOf(reference: Reference, { input, steps }: Scope): string | undefined {
  const { source, step: id, path } = reference;
  const written = formatReference(reference);
  if (source === 'input')
    return isMissingInInput(input, path) ? `${written}: the declared input has no such path` : undefined;
  if (steps === undefined) return `${written}: only a workflow has steps`;
  const step = steps.find((candidate) => member(candidate, 'id').value === id);
  if (step === undefined) {
    const ids = steps.flatMap((candidate) => textOf(member(candidate, 'id')) ?? []);
    return `${written}: there is no step ${quote(id ?? '')}; ${suggest(id ?? '', ids)}`;
  }
  return isMissingInOutput(step, path) ? `${written}: the step's answer has no such path` : undefined;
}

function isMissingInInput(input: Node, path: readonly string[]): boolean {
  const type = member(input, 'type').value ?? 'text';
  return type === 'text' ? path.length > 0 : isCertainlyMissing(member(input, 'schema').value, path);
}

function isMissingInOutput(step: Node, path: readonly string[]): boolean {
  const format = member(step, 'response_format');
  const type = member(format, 'type').value ?? 'text';
  if (type === 'text') return path.length > 0;
  return isCertainlyMissing(member(member(format, 'json_schema'), 'schema').value, path);
}

/** Keywords that can add properties to those of `properties`. */
const openKeywords = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'] as const;
const scalarTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

/**
 * True if a JSON Schema certainly excludes a path. An optional property, a reference or a choice between schemas may
 * contain it, and then the call decides.
 */
function isCertainlyMissing(schema: unknown, path: readonly string[]): boolean {
  const [name, ...below] = path;
  if (name === undefined || !isMapping(schema)) return false;
  if (scalarTypes.has(schema.type)) return true;
  if (openKeywords.some((keyword) => keyword in schema)) return false;
  const properties = isMapping(schema.properties) ? schema.properties : {};
  if (Object.hasOwn(properties, name)) return isCertainlyMissing(properties[name], below);
  return schema.type === 'object' && schema.additionalProperties === false;
}
