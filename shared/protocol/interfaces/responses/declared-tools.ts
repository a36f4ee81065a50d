// Finds the tools that a Responses request declares, wherever they are, with the tools that any model can call.
import { isJsonObject, type JsonObject } from '../../wire/index.ts';
import { isClientTool } from '../index.ts';
import { toolListsOf } from './response-parts.ts';

export interface DeclaredTool {
  /** Path in the request. */
  readonly path: string;
  readonly tool: JsonObject;
  /** Name of the namespace that contains it. */
  readonly namespace?: string;
  /** True if a model that does not know the tool can get it as a function. */
  readonly isCallable: boolean;
}

export function* declaredTools(body: JsonObject): Generator<DeclaredTool> {
  for (const { path, list } of toolListsOf(body)) yield* toolsIn(list, path);
}

/** Yields the tools. It recurses within the depth of a body. */
function* toolsIn(list: unknown, path: string, namespace?: string): Generator<DeclaredTool> {
  for (const [index, tool] of (Array.isArray(list) ? list : []).entries()) {
    if (!isJsonObject(tool)) continue;
    const place = `${path}[${index}]`;
    if (tool.type === 'namespace') {
      yield* toolsIn(tool.tools, `${place}.tools`, typeof tool.name === 'string' ? tool.name : '');
    } else {
      const found = { path: place, tool, isCallable: isCallable(tool) };
      yield namespace === undefined ? found : { ...found, namespace };
    }
  }
}

/** Types of tools that the client runs. OpenAI's own tools are included if a schema can describe their input. */
const callableTypes: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'local_shell',
  'shell',
  'apply_patch',
  'tool_search',
]);

/**
 * True for a tool that any model can call. A search that the provider runs is not callable, because it finds only tools
 * that the model gets anyway.
 */
const isCallable = (tool: JsonObject): boolean =>
  callableTypes.has(tool.type) && isClientTool(tool) && (tool.type !== 'tool_search' || tool.execution === 'client');

/**
 * Returns a function that checks whether one of these choices means the tool. A choice without a name, or of a
 * namespace, means each tool of its type.
 */
export function toolMatcher(choices: readonly JsonObject[]): (tool: DeclaredTool) => boolean {
  const chosenKeys = new Set(choices.map(({ type, name, namespace }) => choiceKey(type, name, namespace)));
  return ({ tool: { type, name }, namespace }) =>
    [name, null].some((one) => [namespace, null].some((other) => chosenKeys.has(choiceKey(type, one, other))));
}

const choiceKey = (type: unknown, name: unknown, namespace: unknown): string =>
  JSON.stringify([type, name ?? null, namespace ?? null]);

/** True for a tool without which nothing is lost. */
export const isNeedless = ({ type, execution }: JsonObject): boolean =>
  type === 'tool_search' && execution !== 'client';
