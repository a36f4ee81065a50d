// Values as YAML: what an export and a shown revision are, and what reading gives back.
import { Document, visit } from 'yaml';

const lineWidth = 120;

/** Control characters that YAML lets through, and marks of the direction of a text. */
const steering = /[\u007f-\u009f\p{Bidi_Control}]/u;
/** Blanks that editors, forms and terminals take away from the end of a file. */
const blankEnd = /(?:[ \t]|\s\n)$/;
const needsQuotes = (text: string): boolean => steering.test(text) || blankEnd.test(text);

/** Nothing that steers a terminal is in it: such characters are escaped, in quotes. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return document.toString({ lineWidth }).replace(new RegExp(steering, 'gu'), escaped);
}
