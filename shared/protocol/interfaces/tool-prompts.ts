// Tokens that Claude's hosts add to a prompt for tools, beside what the body says of them. As Anthropic documents them
// (platform.claude.com: "Pricing", "Tool use"; and the pages of the tools; read November 2026). Other makers document none.
import { isJsonObject } from '../wire/index.ts';

/** The prompt that makes a model use tools, once a request: the most of any model and choice, that of Claude 3 Opus. Claude 4: 346. */
const toolUseTokens = 530;

interface ToolRow {
  /** Its type, with any version behind it. */
  readonly type: RegExp;
  readonly tokens: number;
}

const toolRows: readonly ToolRow[] = [
  { type: /^bash(_|$)/, tokens: 245 },
  { type: /^text_editor(_|$)/, tokens: 700 },
  // Its definition, and what it adds to the instructions: 466 to 499.
  { type: /^computer(_|$)/, tokens: 735 + 499 },
];

/** Of a type that Anthropic writes the definition of and documents no count for (memory, a browser): the most that it documents. */
const unknownTypeTokens = Math.max(...toolRows.map(({ tokens }) => tokens));

/** They say themselves what they are. */
const plainTypes: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

/** For one reading of the prompt. `asksForJson`: some models are made to call a tool for it. */
export function claudeToolTokens(tools: unknown, asksForJson: boolean): number {
  const list = Array.isArray(tools) ? tools : [];
  if (list.length === 0 && !asksForJson) return 0;
  return list.reduce<number>((sum, tool) => sum + tokensOf(tool), toolUseTokens);
}

function tokensOf(tool: unknown): number {
  const { type } = isJsonObject(tool) ? tool : {};
  if (typeof type !== 'string' || plainTypes.has(type)) return 0;
  return toolRows.find((row) => row.type.test(type))?.tokens ?? unknownTypeTokens;
}
