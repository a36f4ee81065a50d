// How each provider package is opened. Types only.
import type { LanguageModelV4 } from '@ai-sdk/provider';

export interface ModelOptions {
  /** As the provider names it. */
  readonly model: string;
  readonly fetch: typeof fetch;
  /** For tool calls that came without one. */
  readonly generateId: () => string;
}

export type OpenModel = (options: ModelOptions) => LanguageModelV4;
