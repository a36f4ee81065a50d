// Reads templates of stored functions, which are text with `{{input}}`, `{{input.a.b}}`, `{{steps.ID.output}}` or
// `{{steps.ID.output.a}}`. Blanks inside the braces do not count. This is the only reader of templates.
import type { MessageTemplate, ModelCall, RevisionContent } from './function-document.ts';

export interface Reference {
  readonly source: 'input' | 'step';
  /** Id of the step; absent for the input. */
  readonly step?: string;
  /** Path below the input or the step's output; empty for the whole value. */
  readonly path: readonly string[];
}

type TemplatePart = string | Reference;

type ParsedTemplate =
  | { readonly ok: true; readonly parts: TemplatePart[] }
  | { readonly ok: false; readonly message: string };

const expression = /\{\{([^{}]*)\}\}/g;
const name = /^[A-Za-z0-9_-]+$/;
const forms = '{{input}}, {{input.a.b}}, {{steps.ID.output}} or {{steps.ID.output.a}}';

export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(expression)) {
    const reference = parseReference((match[1] ?? '').trim());
    if (reference === undefined) return { ok: false, message: `holds {{…}} that is none of ${forms}` };
    parts.push(text.slice(end, match.index), reference);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  // The pattern did not match this text, because it has braces that never close, or braces within braces.
  if (parts.some((part) => typeof part === 'string' && part.includes('{{'))) {
    return { ok: false, message: 'holds a {{ that is not closed by }}' };
  }
  return { ok: true, parts: parts.filter((part) => part !== '') };
}

/** Writes a reference such as `{{input.a.b}}`. */
export const formatReference = ({ source, step, path }: Reference): string =>
  `{{${[...(source === 'input' ? ['input'] : ['steps', step, 'output']), ...path].join('.')}}}`;

function parseReference(written: string): Reference | undefined {
  const segments = written.split('.');
  if (!segments.every((segment) => name.test(segment))) return undefined;
  const [root, step, output, ...path] = segments;
  if (root === 'input') return { source: 'input', path: segments.slice(1) };
  if (root === 'steps' && step !== undefined && output === 'output') return { source: 'step', step, path };
  return undefined;
}

export function readTemplate(text: string): readonly TemplatePart[] {
  const template = parseTemplate(text);
  if (!template.ok) throw new Error(`a stored template ${template.message}`);
  return template.parts;
}

const referencesIn = (text: string): Reference[] => readTemplate(text).filter((part) => typeof part !== 'string');

const templatesOf = ({ content }: MessageTemplate): string[] =>
  typeof content === 'string' ? [content] : content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

export const messageReferences = (messages: readonly MessageTemplate[]): Reference[] =>
  messages.flatMap(templatesOf).flatMap(referencesIn);

/** Returns the messages that a client may send before its input. */
export const fixedMessages = (content: RevisionContent): readonly MessageTemplate[] =>
  content.kind === 'workflow' ? [] : content.messages.filter((message) => messageReferences([message]).length === 0);

export const modelCallsOf = (content: RevisionContent): readonly ModelCall[] =>
  content.kind === 'prompt' ? [content] : content.steps;

/** Returns every reference of a revision, output template included. */
export function revisionReferences(content: RevisionContent): Reference[] {
  const output = content.kind === 'workflow' && typeof content.output === 'string' ? content.output : '';
  return [...modelCallsOf(content).flatMap(({ messages }) => messageReferences(messages)), ...referencesIn(output)];
}
