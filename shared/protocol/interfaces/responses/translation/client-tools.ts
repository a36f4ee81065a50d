// Gives the tools of a client unique names that every target accepts. The tools of a namespace are sent next to all
// others. In the answer each call is again a call of the client's own tool.
import { sha256Hex } from '../../../../foundation/ids/index.ts';
import { createToolNames } from '../../../hub/index.ts';
import type { OwnToolType } from './own-tools.ts';

export interface ClientTool {
  /**
   * Kind of the tool. `custom` means that its input is text in its own format. The other kinds except functions are
   * kinds of OpenAI, and run at the client.
   */
  readonly kind: 'function' | 'custom' | OwnToolType;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ClientTools {
  /** Returns the name for the target, always the same for the same tool. */
  readonly nameFor: (tool: ClientTool) => string;
  /** Finds the tool that the model has called. An unknown name counts as the name of a function. */
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
      const shortName = names.short(plain);
      const name = toolByName.has(shortName)
        ? names.short(`${plain} ${sha256Hex(key).slice(0, digestCharacters)}`)
        : shortName;
      nameByKey.set(key, name);
      toolByName.set(name, tool);
      return name;
    },
    find: (name) => toolByName.get(name) ?? { kind: 'function', name },
  };
}
