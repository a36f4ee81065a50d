// The tools of a client under names that every target takes: tools of a namespace stand beside all others, and no two have the same
// name. On the way back each call is again one of the client's own.
import { sha256Hex } from '../../../../../foundation/ids/index.ts';
import { createToolNames } from '../../middle/index.ts';
import type { OwnToolType } from './own-tools.ts';

export interface ClientTool {
  /** `custom`: its input is a text in a form of its own. Others than functions are OpenAI's, and run at the client. */
  readonly kind: 'function' | 'custom' | OwnToolType;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ClientTools {
  /** For the target: always the same for the same tool. */
  readonly nameFor: (tool: ClientTool) => string;
  /** What the model has called. A name that was never given out is that of a function. */
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
