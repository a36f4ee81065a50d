// The tools of a client under unique names that every target accepts: tools of a namespace are put beside all others.
// In the answer each call is again one of the client's own tools.
import { sha256Hex } from '../../../../foundation/ids/index.ts';
import { createToolNames } from '../../../hub/index.ts';
import type { OwnToolType } from './own-tools.ts';

export interface ClientTool {
  /** `custom`: its input is a text in a form of its own. Others than functions are OpenAI's, and run at the client. */
  readonly kind: 'function' | 'custom' | OwnToolType;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ClientTools {
  /** Name for the target, always the same for the same tool. */
  readonly nameFor: (tool: ClientTool) => string;
  /** The tool that the model has called. An unknown name is that of a function. */
  readonly find: (name: string) => ClientTool;
}

const digestCharacters = 8;

export function createClientTools(): ClientTools {
  const names = createToolNames();
  const nameByKey = new Map<string, string>();
  const toolByName = new Map<string, ClientTool>();
  return {
    nameFor(tool) {
      const key = JSON.stringify([tool.kind, tool.namespace ?? null, tool.name]);
      const known = nameByKey.get(key);
      if (known !== undefined) return known;
      const plain = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
      const wanted = names.short(plain);
      const name = toolByName.has(wanted)
        ? names.short(`${plain} ${sha256Hex(key).slice(0, digestCharacters)}`)
        : wanted;
      nameByKey.set(key, name);
      toolByName.set(name, tool);
      return name;
    },
    find: (name) => toolByName.get(name) ?? { kind: 'function', name },
  };
}
