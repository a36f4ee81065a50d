// Lists the tokens that Claude's hosts add to a prompt for tools, in addition to the tools' definitions in the body.
// Each row names the page of platform.claude.com/docs/en that documents it, as of 2026-08-22 (the newest copy at
// github.com/gpambrozio/ClaudeDocs, read on 2026-11-26). If models differ, the highest number counts. Other vendors
// document none.
import { isJsonObject } from '../wire/index.ts';

/**
 * Tokens of the prompt that makes a model use tools, once per request: Claude Opus 4.7 with `any` or `tool`
 * (agents-and-tools/tool-use/overview, 286 to 804).
 */
const toolUseTokens = 804;

interface ToolRow {
  /** Type of the tool, with any version after it. */
  readonly type: RegExp;
  readonly tokens: number;
  /** Set for a toolset of many tools. */
  readonly isSet?: true;
}

/** Rows of which the first match counts. */
const toolRows: readonly ToolRow[] = [
  // tool-use/bash-tool, Pricing: 325 from Claude Opus 4.7 on, 244 before.
  { type: /^bash(_\d+)?$/, tokens: 325 },
  // tool-use/text-editor-tool, Pricing: documented for `text_editor_20250429`, not for later versions.
  { type: /^text_editor(_\d+)?$/, tokens: 700 },
  // tool-use/computer-use-tool, Pricing: "about 4,500", on Claude Sonnet 5 "about 4,590", with the prompt for tools.
  { type: /^computer_toolset(_\d+)?$/, tokens: 4_590, isSet: true },
  // Same page, earlier versions: "about 735" for the definition and 466 to 499 in the instructions.
  { type: /^computer(_\d+)?$/, tokens: 735 + 499 },
  // tool-use/browser-use-tool, Pricing: on Claude Sonnet 5 "about 6,670", and "about 880" for fields that are off by
  // default.
  { type: /^browser_toolset(_\d+)?$/, tokens: 6_670 + 880, isSet: true },
];

// Types whose definition Anthropic writes without a documented count (memory, tools that a host runs) get the highest
// count that Anthropic documents for one tool, or for a set.
const setTypes = /_toolset(_|$)/;
const unknownSetTokens = Math.max(...toolRows.map(({ tokens }) => tokens));
const unknownToolTokens = Math.max(...toolRows.filter(({ isSet }) => !isSet).map(({ tokens }) => tokens));

/** Tools whose definition is in the body. */
const plainTypes: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);

/** Returns the tokens for one reading of the prompt. `asksForJson` counts the tool that some models get for JSON. */
export function claudeToolTokens(tools: unknown, asksForJson: boolean): number {
  const list = Array.isArray(tools) ? tools : [];
  if (list.length === 0 && !asksForJson) return 0;
  return list.reduce<number>((sum, tool) => sum + tokensOf(tool), toolUseTokens);
}

function tokensOf(tool: unknown): number {
  const { type } = isJsonObject(tool) ? tool : {};
  if (typeof type !== 'string' || plainTypes.has(type)) return 0;
  const unknownTokens = setTypes.test(type) ? unknownSetTokens : unknownToolTokens;
  return toolRows.find((row) => row.type.test(type))?.tokens ?? unknownTokens;
}
