// Assembles an answer from the chunks of its stream. Pieces of one text become one part. Unknown fields are preserved.
import { type EventFold, emptyObject, type FoldedObject, isObject } from '../../event-folds/index.ts';

interface FoldedCandidate {
  readonly fields: FoldedObject;
  readonly content: FoldedObject;
  readonly parts: FoldedObject[];
}

export function openGeneratedFold(): EventFold {
  const answer = emptyObject();
  const candidates = new Map<unknown, FoldedCandidate>();

  function addCandidate({ content, ...fields }: FoldedObject, at: number): void {
    const index = typeof fields.index === 'number' ? fields.index : at;
    const known = candidates.get(index) ?? { fields: emptyObject(), content: emptyObject(), parts: [] };
    candidates.set(index, known);
    Object.assign(known.fields, fields);
    if (!isObject(content)) return;
    const { parts, ...beside } = content;
    Object.assign(known.content, beside);
    for (const part of Array.isArray(parts) ? parts : []) if (isObject(part)) addPart(known.parts, part);
  }

  function add({ candidates: listed, usageMetadata, ...fields }: Readonly<FoldedObject>): void {
    Object.assign(answer, fields);
    if (isObject(usageMetadata)) answer.usageMetadata = usageMetadata;
    for (const [at, candidate] of (Array.isArray(listed) ? listed : []).entries())
      if (isObject(candidate)) addCandidate(candidate, at);
  }

  const whole = ({ fields, content, parts }: FoldedCandidate): object => ({
    content: { parts: parts.length > 1 ? parts.filter((part) => !isEmpty(part)) : parts, ...content },
    ...fields,
  });

  return {
    add,
    answer: () => ({ ...(candidates.size > 0 ? { candidates: [...candidates.values()].map(whole) } : {}), ...answer }),
  };
}

const isEmpty = (part: FoldedObject): boolean => part.text === '' && Object.keys(part).length === 1;

/** Adds a part. A signature ends the text that it signs. */
function addPart(parts: FoldedObject[], part: FoldedObject): void {
  const last = parts.at(-1);
  const continues =
    last !== undefined &&
    typeof part.text === 'string' &&
    typeof last.text === 'string' &&
    last.thought === part.thought &&
    last.thoughtSignature === undefined &&
    Object.keys(part).every((name) => continuedFields.has(name));
  if (!continues) {
    parts.push(Object.assign(emptyObject(), part));
    return;
  }
  const text = `${last.text}${part.text}`;
  Object.assign(last, part, { text });
}

const continuedFields: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature']);
