// Values as YAML: what an export and a shown revision are, and what reading gives back.
import { Document, visit } from 'yaml';
import { escapeControls } from '../../foundation/log/index.ts';

const lineWidth = 120;

/** Blanks that editors, forms and terminals take away from the end of a file. */
const blankEnd = /(?:[ \t]|\s\n)$/;
const needsQuotes = (text: string): boolean => escapeControls(text) !== text || blankEnd.test(text);

/** Nothing that steers a terminal is in it: such characters are escaped, in quotes. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeControls(document.toString({ lineWidth }));
}
