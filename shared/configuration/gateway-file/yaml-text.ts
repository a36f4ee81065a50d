// Writes values as YAML, for exports and shown revisions. Reading the text restores them.
import { Document, visit } from 'yaml';
import { escapeControls } from '../../foundation/log/index.ts';

const lineWidth = 120;

/** Matches blanks that editors, forms and terminals remove from the end of a file. */
const blankEnd = /(?:[ \t]|\s\n)$/;
const needsQuotes = (text: string): boolean => escapeControls(text) !== text || blankEnd.test(text);

/** Writes YAML with quoted escapes for characters that control a terminal. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeControls(document.toString({ lineWidth }));
}
