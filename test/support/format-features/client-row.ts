// Requests of a client of Messages or of Responses, and their translation to each format. The rows are tables of the
// formats' README: a cell has the same text.
import type { Json } from './feature-row.ts';

/** The columns, by the interface of the client. */
export const columnsOf = {
  messages: ['responses', 'converse', 'generate-content', 'chat-completions'],
  responses: ['messages', 'converse', 'generate-content', 'chat-completions'],
} as const;
export type ClientId = keyof typeof columnsOf;
export type ColumnFormat = (typeof columnsOf)[ClientId][number];

/** Text that is looked for in the body that the provider gets. */
type Mark = string | RegExp;

export type FeatureVerdict =
  | { readonly says: 'carried' | 'emulated'; readonly marks: readonly Mark[] }
  /** The provider gets the request without the feature, and the client gets a report of it. */
  | { readonly says: 'dropped'; readonly members: readonly string[] }
  /** No provider is called; the error names the field. */
  | { readonly says: 'refused'; readonly member: string };

export const carried = (...marks: readonly Mark[]): FeatureVerdict => ({ says: 'carried', marks });
export const emulated = (...marks: readonly Mark[]): FeatureVerdict => ({ says: 'emulated', marks });
export const dropped = (...members: readonly string[]): FeatureVerdict => ({ says: 'dropped', members });
export const refusal = (member: string): FeatureVerdict => ({ says: 'refused', member });

export interface ClientRow<Id extends ClientId = ClientId> {
  /** Name of the feature in the README. */
  readonly feature: string;
  /** Fields of the request that ask for it. */
  readonly asks: Json;
  /** Other fields of the request. */
  readonly beside?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the model thinks; its name decides how the gateway asks for it. */
  readonly isThinker?: true;
  readonly becomes: Readonly<Record<(typeof columnsOf)[Id][number], FeatureVerdict>>;
}

export const everywhere = (verdict: FeatureVerdict): Readonly<Record<ColumnFormat, FeatureVerdict>> => ({
  messages: verdict,
  responses: verdict,
  converse: verdict,
  'generate-content': verdict,
  'chat-completions': verdict,
});
