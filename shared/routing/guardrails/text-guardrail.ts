// Guardrails that search for words, patterns and personal data within the process. They are loaded with the first call
// that has such a guardrail.
import type { PatternsGuardrail, PersonalGuardrail, WordsGuardrail } from '../../configuration/catalogue/index.ts';
import { compilePattern } from '../../foundation/patterns/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { personalFinder } from './find-personal.ts';
import { type FindSpans, wordFinder } from './find-words.ts';
import type { AskGuardrail, GuardrailAnswer, GuardrailQuestion } from './guardrail-call.ts';

export type TextGuardrail = WordsGuardrail | PatternsGuardrail | PersonalGuardrail;

interface Finder {
  /** Name for a mask. */
  readonly name: string;
  /** Yields findings, and undefined after each piece of a few thousand characters. */
  readonly find: FindSpans;
}

interface Finding {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Number of matches and pieces of text between two turns, which take some 20 ms if each match looks far ahead. */
const turnMaxSteps = 32;

/** Finders by the document of a catalogue, which lives until the next catalogue is read. */
const compiled = new WeakMap<TextGuardrail, readonly Finder[]>();

export function textGuardrail(guardrail: TextGuardrail): AskGuardrail {
  const finders = compiled.get(guardrail) ?? findersOf(guardrail);
  compiled.set(guardrail, finders);
  return (question) => (guardrail.action === 'block' ? block : mask)(guardrail, finders, question);
}

function findersOf(guardrail: TextGuardrail): Finder[] {
  switch (guardrail.kind) {
    case 'words':
      return [{ name: guardrail.id, find: wordFinder(guardrail.words) }];
    case 'patterns':
      return guardrail.patterns.map(({ name, regex }) => {
        const pattern = compilePattern(regex);
        return { name, find: (text) => pattern.spansIn(text) };
      });
    case 'pii':
      return guardrail.types.map((type) => ({ name: type, find: personalFinder(type) }));
  }
}

async function block(
  guardrail: TextGuardrail,
  finders: readonly Finder[],
  question: GuardrailQuestion,
): Promise<GuardrailAnswer> {
  for await (const { finding } of findings(finders, question)) {
    return { action: 'block', message: messageOf(guardrail, finding.name) };
  }
  return { action: 'pass' };
}

/** Returns the message, which never contains the text that was found. */
const messageOf = ({ kind }: TextGuardrail, name: string): string =>
  ({
    words: 'The text has a word that is not allowed.',
    patterns: `The text has what the pattern ${name} looks for.`,
    pii: `The text has what is not allowed to pass: ${name}.`,
  })[kind];

async function mask(
  _guardrail: TextGuardrail,
  finders: readonly Finder[],
  question: GuardrailQuestion,
): Promise<GuardrailAnswer> {
  const found = new Map<number, Finding[]>();
  for await (const { at, finding } of findings(finders, question)) {
    if (isInMask(question.texts[at] ?? '', finding, finders)) continue;
    const textFindings = found.get(at) ?? [];
    found.set(at, textFindings);
    textFindings.push(finding);
  }
  if (found.size === 0) return { action: 'pass' };
  const texts = question.texts.map((text, at) => masked(text, found.get(at) ?? []));
  return { action: 'mask', texts };
}

async function* findings(
  finders: readonly Finder[],
  { texts, signal }: GuardrailQuestion,
): AsyncGenerator<{ readonly at: number; readonly finding: Finding }, void> {
  let steps = 0;
  for (const [at, text] of texts.entries()) {
    for (const { name, find } of finders) {
      for (const span of find(text)) {
        if (span !== undefined) yield { at, finding: { ...span, name } };
        steps += 1;
        if (steps % turnMaxSteps !== 0) continue;
        await nextTurn();
        if (signal.aborted) throw new Error('the check was ended');
      }
    }
  }
}

const maskOf = (name: string): string => `[${name}]`;

/** True inside a mask of an earlier check, which stays unchanged, even if its own name is searched for. */
function isInMask(text: string, { start, end }: Finding, finders: readonly Finder[]): boolean {
  return finders.some(({ name }) => {
    const written = maskOf(name);
    const opening = text.slice(Math.max(0, start - written.length), start + 1).lastIndexOf('[');
    const from = opening + Math.max(0, start - written.length);
    return opening >= 0 && text.startsWith(written, from) && end <= from + written.length;
  });
}

/** Masks the findings. If some overlap all of their text is masked, with the mask of the longest. */
function masked(text: string, found: readonly Finding[]): string {
  const parts: string[] = [];
  let before = 0;
  for (const { start, end, name } of joined(found)) {
    parts.push(text.slice(before, start), maskOf(name));
    before = end;
  }
  return parts.join('') + text.slice(before);
}

function joined(found: readonly Finding[]): Finding[] {
  const apart: (Finding & { readonly longest: number })[] = [];
  for (const one of found.toSorted((a, b) => a.start - b.start)) {
    const length = one.end - one.start;
    const last = apart.at(-1);
    if (last === undefined || one.start >= last.end) {
      apart.push({ ...one, longest: length });
      continue;
    }
    const name = length > last.longest ? one.name : last.name;
    const end = Math.max(last.end, one.end);
    apart[apart.length - 1] = { start: last.start, end, name, longest: Math.max(last.longest, length) };
  }
  return apart;
}
