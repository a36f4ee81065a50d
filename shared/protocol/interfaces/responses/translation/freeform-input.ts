// Translates tools whose input is free text. Other models get a function with one text argument. The text is decoded
// piece by piece, so that a client sees a patch grow.
import type { JSONSchema7 } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, parseInnerJson } from '../../../wire/index.ts';

const inputSchema: JSONSchema7 = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

export function freeformParameters({ description, format }: JsonObject): {
  description: string;
  inputSchema: JSONSchema7;
} {
  const { type, syntax, definition } = isJsonObject(format) ? format : {};
  const grammar =
    type === 'grammar' && typeof definition === 'string'
      ? `The text of \`input\` must match this grammar (${String(syntax)}):\n${definition}`
      : 'The text of `input` is free.';
  const lead = typeof description === 'string' && description !== '' ? `${description}\n\n` : '';
  return { description: lead + grammar, inputSchema };
}

export interface FreeformReader {
  /** Adds a piece of the arguments; returns the text that it brings. */
  readonly add: (piece: string) => string;
  /** Returns the buffered rest. */
  readonly end: () => string;
}

const opening = /^\s*\{\s*"input"\s*:\s*"/;
/** Number of characters within which the begin of the argument must be found. */
const openingMaxCharacters = 64;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export function freeformReader(): FreeformReader {
  let state: 'opening' | 'text' | 'closed' | 'other' = 'opening';
  let pending = '';
  /**
   * The first half of a character that is written as two escapes, because most clients cannot read half a character.
   */
  let half = '';

  function addText(): string {
    let text = half;
    let at = 0;
    half = '';
    while (at < pending.length) {
      const end = nextMark(pending, at);
      text += pending.slice(at, end);
      at = end;
      if (pending[at] === '"') {
        state = 'closed';
        break;
      }
      const length = pending[at + 1] === 'u' ? 6 : 2;
      if (at + length > pending.length) break;
      text += unescaped(pending.slice(at + 1, at + length));
      at += length;
    }
    pending = state === 'closed' ? '' : pending.slice(at);
    if (!endsInHalf.test(text)) return text;
    half = text.slice(-1);
    return text.slice(0, -1);
  }

  return {
    add(piece) {
      if (state === 'closed') return '';
      pending += piece;
      if (state === 'opening') {
        const found = opening.exec(pending);
        if (found !== null) {
          state = 'text';
          pending = pending.slice(found[0].length);
        } else if (pending.length > openingMaxCharacters) state = 'other';
      }
      return state === 'text' ? addText() : '';
    },
    end() {
      if (state === 'text') return half + pending;
      return state === 'closed' ? half : otherInput(pending);
    },
  };
}

const endsInHalf = /[\uD800-\uDBFF]$/;

function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === '"' || text[at] === '\\') return at;
  return text.length;
}

function unescaped(code: string): string {
  if (code.length === 1) return escapes[code] ?? code;
  const unit = Number.parseInt(code.slice(1), 16);
  return Number.isNaN(unit) ? code : String.fromCharCode(unit);
}

/** Returns the input of a model that wrote it in another way. */
function otherInput(text: string): string {
  const input = parseInnerJson(text)?.value;
  return isJsonObject(input) && typeof input.input === 'string' ? input.input : text;
}
