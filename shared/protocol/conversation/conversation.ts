// Defines a conversation as people read it, whichever interface it used. This module runs in browsers too, because it
// only handles text.

export type ConversationPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** `url` is a data URL, or an address. */
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly text: string }
  | { readonly kind: 'tool_result'; readonly id: string; readonly text: string }
  /** Any other part, as JSON. */
  | { readonly kind: 'other'; readonly text: string };

export interface ConversationTurn {
  readonly role: string;
  readonly parts: readonly ConversationPart[];
  /** Reason why the model ended, in the interface's own words. */
  readonly finishReason?: string | undefined;
}

export type Value = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Value =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectsIn = (value: unknown): readonly Value[] => (Array.isArray(value) ? value.filter(isObject) : []);
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
export const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

export const textPart = (text: string): ConversationPart[] => (text === '' ? [] : [{ kind: 'text', text }]);
export const thinkingPart = (text: string): ConversationPart[] => (text === '' ? [] : [{ kind: 'thinking', text }]);
export const otherPart = (value: unknown): ConversationPart => ({ kind: 'other', text: asText(value) });
/** Returns a turn; undefined if it would be empty. */
export const turnOf = (
  role: string,
  parts: readonly ConversationPart[],
  finishReason?: string,
): readonly ConversationTurn[] =>
  parts.length === 0 && finishReason === undefined ? [] : [{ role, parts, finishReason }];
