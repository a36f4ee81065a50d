// Names of tools that packages look up in plain objects, where they find inherited properties: `constructor`,
// `toString`. Such a tool gets another name for the package, and for the provider.
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { createToolNames, type HubCall, type HubPart } from '../../../protocol/hub/index.ts';

interface PackageNames {
  readonly call: HubCall;
  readonly partOf: (part: HubPart) => HubPart;
}

const nameMaxCharacters = 64;
const isInherited = (name: string): boolean => name in Object.prototype;

export function createPackageNames(call: HubCall): PackageNames {
  const used = new Set(namesIn(call));
  const names = createToolNames();
  const inherited = [...used].filter((name) => isInherited(name) || names.short(name) !== name);
  if (inherited.length === 0) return { call, partOf: (part) => part };
  const packageNames = new Map<string, string>();
  for (const name of inherited) {
    const short = names.short(name);
    let other = short === name || used.has(short) ? `${short.slice(0, nameMaxCharacters - 2)}_` : short;
    while (used.has(other)) other += '_';
    used.add(other);
    packageNames.set(name, other);
  }
  const clientNames = new Map(Array.from(packageNames, ([name, other]) => [other, name]));
  const rename = (names: ReadonlyMap<string, string>) =>
    function renamed<Part extends object>(part: Part): Part {
      if (!('toolName' in part) || typeof part.toolName !== 'string') return part;
      return { ...part, toolName: names.get(part.toolName) ?? part.toolName };
    };
  const [give, restore] = [rename(packageNames), rename(clientNames)];
  const { tools, toolChoice, prompt } = call;
  return {
    call: {
      ...call,
      ...(tools && { tools: tools.map((tool) => ({ ...tool, name: packageNames.get(tool.name) ?? tool.name })) }),
      ...(toolChoice && { toolChoice: give(toolChoice) }),
      prompt: prompt.map((message) =>
        typeof message.content === 'string'
          ? message
          : ({ ...message, content: message.content.map((part) => give(part)) } as LanguageModelV4Message),
      ),
    },
    partOf: restore,
  };
}

function* namesIn({ tools = [], prompt }: HubCall): Generator<string> {
  for (const { name } of tools) yield name;
  for (const { content } of prompt) {
    if (typeof content === 'string') continue;
    for (const part of content) if ('toolName' in part) yield part.toolName;
  }
}
