/**
 * What makes a call dearer than the prices of its entry: dearer tiers, tools that the provider runs itself, other models that
 * it asks beside, longer windows. An operator who lists one in an entry answers for the prices.
 */
export const extraNames = [
  'service_tier',
  'web_search',
  'plugins',
  'best_of',
  'file_search',
  'code_interpreter',
  'image_generation',
  'mcp',
  'web_fetch',
  'code_execution',
  'shell',
  'advisor',
  'fallbacks',
  'long_context',
  /** A prompt that the provider keeps: tools and all that it brings are known there only. */
  'prompt',
  /** Tools of a type that the gateway does not know. */
  'other_tools',
] as const;
export type Extra = (typeof extraNames)[number];
