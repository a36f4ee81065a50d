// Which templates a revision holds and what they refer to. Stored templates were checked when they were saved.
import type { MessageTemplate, ModelCall, RevisionContent } from './document.ts';
import { parseTemplate, type Reference, type TemplatePart } from './template.ts';

export function readTemplate(text: string): readonly TemplatePart[] {
  const template = parseTemplate(text);
  if (!template.ok) throw new Error(`a stored template ${template.message}`);
  return template.parts;
}

export const referencesIn = (text: string): Reference[] =>
  readTemplate(text).filter((part) => typeof part !== 'string');

const templatesOf = ({ content }: MessageTemplate): string[] =>
  typeof content === 'string' ? [content] : content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

export const messageReferences = (messages: readonly MessageTemplate[]): Reference[] =>
  messages.flatMap(templatesOf).flatMap(referencesIn);

/** The messages that a client may send before its input. */
export const fixedMessages = (content: RevisionContent): readonly MessageTemplate[] =>
  content.kind === 'workflow' ? [] : content.messages.filter((message) => messageReferences([message]).length === 0);

export const modelCallsOf = (content: RevisionContent): readonly ModelCall[] =>
  content.kind === 'prompt' ? [content] : content.steps;

/** Every reference of a revision, output template included. */
export function revisionReferences(content: RevisionContent): Reference[] {
  const output = content.kind === 'workflow' && typeof content.output === 'string' ? content.output : '';
  return [...modelCallsOf(content).flatMap(({ messages }) => messageReferences(messages)), ...referencesIn(output)];
}
