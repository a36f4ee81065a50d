// Reads a provider's response from JSON. Lenient: an object with a list as output is a response.
import { findMember, type JsonText, pick, type ReadAnswer } from '../../wire/index.ts';
import { membersOf, readErrorObject, readInTurns, readUnscanned, readUsageMember, textBytesIn } from '../index.ts';
import { brokenEnd, idsOf, itemShape, readResponseUsage } from './response-events.ts';

const factsShape = membersOf({
  id: {},
  store: {},
  object: {},
  model: {},
  status: {},
  incomplete_details: membersOf({ reason: {} }),
  error: membersOf({ code: {}, type: {}, message: {}, param: {} }),
});

const itemsShape = { items: itemShape };

export const readResponse = async (text: string): Promise<ReadAnswer> =>
  (await readInTurns(text, readDetails)) ?? readUnscanned(text, readResponseUsage);

async function readDetails(json: JsonText, nextStep: () => Promise<void>): Promise<ReadAnswer> {
  const details = pick(json, 0, factsShape) as Record<string, unknown>;
  const { object, model, status, error } = details;
  if ((error ?? null) !== null) return { kind: 'error', error: { error } };
  const broken = brokenEnd(details);
  if (broken !== undefined) return { kind: 'error', error: broken };
  if (object === 'error') return { kind: 'error', error: readErrorObject(json) };
  const output = findMember(json, 'output');
  if (output === undefined || !json.isArray(output)) return { kind: 'unreadable' };
  await nextStep();
  const outputBytes = textBytesIn(json, output, structuralNames);
  return {
    kind: 'answer',
    answer: {
      text: json.text,
      json,
      usage: readResponseUsage(readUsageMember(json)),
      outputBytes,
      model: typeof model === 'string' ? model : undefined,
      finishReasons: typeof status === 'string' ? [status] : undefined,
      ...idsOf(details, pick(json, output, itemsShape) as unknown[]),
    },
  };
}

/** Names of fields without text of the model. */
const structuralNames: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'role',
  'status',
  'encrypted_content',
  'annotations',
  'logprobs',
]);
