// Finds the tools that a Messages request declares, next to its messages and inside them. A message adds or removes
// tools from its position on, so the model is offered the tools that remain at the end.
import { isJsonObject, type JsonObject } from '../../wire/index.ts';

interface OfferedTool {
  /** Path in the request. */
  readonly path: string;
  readonly tool: JsonObject;
}

/** Returns all declared tools, including tools that a later message removes. */
export const declaredTools = (body: JsonObject): readonly OfferedTool[] => [
  ...toolsBeside(body),
  ...[...changesIn(body.messages)].flatMap(({ definition }) => definition ?? []),
];

/** Returns the tools that the model may call. */
export function offeredTools(body: JsonObject): readonly OfferedTool[] {
  const offered = new Set(toolsBeside(body));
  const known = new Map<unknown, OfferedTool>();
  for (const one of offered) known.set(one.tool.name, one);
  for (const { name, definition, isAddition } of changesIn(body.messages)) {
    const before = known.get(name);
    const next = definition ?? before;
    if (before !== undefined && (!isAddition || next !== before)) offered.delete(before);
    if (isAddition && next !== undefined) {
      offered.add(next);
      known.set(name, next);
    }
  }
  return [...offered];
}

const toolsBeside = ({ tools }: JsonObject): OfferedTool[] =>
  (Array.isArray(tools) ? tools : []).flatMap((tool, index) =>
    isJsonObject(tool) ? [{ path: `tools[${index}]`, tool }] : [],
  );

interface ToolChange {
  readonly name: unknown;
  readonly isAddition: boolean;
  /** Definition of the tool, if a message adds one. */
  readonly definition: OfferedTool | undefined;
}

const changeTypes: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

function* changesIn(messages: unknown): Generator<ToolChange> {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const content = isJsonObject(message) && Array.isArray(message.content) ? message.content : [];
    for (const [place, block] of content.entries()) {
      if (!isJsonObject(block) || !changeTypes.has(block.type) || !isJsonObject(block.tool)) continue;
      const { tool: change, type } = block;
      const { definition: tool, name } = change;
      const path = `messages[${index}].content[${place}]`;
      yield {
        name: isJsonObject(tool) ? tool.name : name,
        isAddition: type === 'tool_addition',
        definition: isJsonObject(tool) ? { path, tool } : undefined,
      };
    }
  }
}
