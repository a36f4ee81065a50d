// The parts of a streamed answer as events of Responses.
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import { type EventToWrite, ownResponseId, writtenEvent } from '../../../../../protocol/interfaces/responses/index.ts';
import { type HubPart, isSigned, type PartOf, tokensOf } from '../../middle/index.ts';
import { createOutput } from './build-output.ts';
import { imageOf } from './response-items.ts';
import { responseEnd, responseText, toReport, type Writing } from './response-object.ts';

const isText = (part: HubPart): part is PartOf<'text-start' | 'text-delta' | 'text-end'> =>
  part.type.startsWith('text-');
const isReasoning = (part: HubPart): part is PartOf<'reasoning-start' | 'reasoning-delta'> =>
  part.type.startsWith('reasoning-');
const deltaOf = (part: HubPart): string => ('delta' in part ? part.delta : '');

const isOfItem = (type: string): boolean => type.startsWith('response.output_item.');
/** No text of a model can be taken for it: inside a string a backslash stands before each quotation mark. */
const reasoningItem = '"type":"reasoning"';

export function openResponseWriter(writing: Writing): (part: HubPart) => AnswerEvent[] {
  const { head } = writing;
  const responseId = ownResponseId(head.id);
  let { model } = head;
  let sequenceNumber = 0;
  let outputBytes = 0;
  let events: AnswerEvent[] = [];
  /** The texts of whole items. */
  const items: string[] = [];
  /** Calls that have begun. */
  const begun = new Set<string>();

  function add(type: string, text: string, spoken: string, end?: EventToWrite['end']): void {
    const bytes = Buffer.byteLength(spoken);
    outputBytes += bytes;
    const isOnlyThinking = type.startsWith('response.reasoning') || (isOfItem(type) && text.includes(reasoningItem));
    const details = { type, sequenceNumber, responseId, outputBytes: bytes, isOnlyThinking, ...(end && { end }) };
    events.push(writtenEvent(text, details));
    sequenceNumber += 1;
  }

  const opening = (type: string, members: object): string =>
    JSON.stringify({ type, sequence_number: sequenceNumber, ...members }).slice(0, -1);

  /** `response`: its text. */
  const addStage = (type: string, response: string, end?: EventToWrite['end']): void =>
    add(type, `${opening(type, {})},"response":${response}}`, '', end);

  function start(): void {
    if (sequenceNumber > 0) return;
    const response = responseText(writing);
    addStage('response.created', response);
    addStage('response.in_progress', response);
  }

  const output = createOutput(writing, (type, members, { spoken = '', item } = {}) => {
    start();
    const text = item && JSON.stringify(item);
    if (text !== undefined) items.push(text);
    add(type, `${opening(type, members)}${text === undefined ? '' : `,"item":${text}`}}`, spoken);
  });

  function wholeCall({ toolCallId: id, toolName, input, providerMetadata }: PartOf<'tool-call'>): void {
    if (!begun.has(id)) beginCall(id, toolName, providerMetadata);
    output.endCall(id, input);
  }

  function beginCall(id: string, toolName: string, metadata: PartOf<'tool-call'>['providerMetadata']): void {
    begun.add(id);
    output.beginCall(id, toolName, head.readSigned(metadata));
  }

  function finish({ finishReason, providerMetadata, usage }: PartOf<'finish'>): void {
    const end = responseEnd(finishReason);
    output.finish(end.status === 'incomplete', end.reason && head.refusalOf(providerMetadata));
    start();
    const whole = { items, tokens: tokensOf(usage), outputBytes };
    const said = { usage: toReport(head, whole), model, status: end.status };
    addStage(`response.${end.status}`, responseText(writing, end, whole), said);
  }

  function write(part: HubPart): void {
    if (part.type === 'response-metadata') model = part.modelId ?? model;
    else if (isText(part)) output.addText(part.id, deltaOf(part), head.readSigned(part.providerMetadata));
    else if (part.type === 'reasoning-end') endReasoning(part);
    else if (isReasoning(part)) output.addReasoning(part.id, deltaOf(part), head.readSigned(part.providerMetadata));
    else if (part.type === 'tool-input-delta') output.addArguments(part.id, part.delta);
    else if (part.type === 'finish') finish(part);
    else if (part.type === 'file') addFile(part);
    else if (part.type === 'tool-input-start' && part.providerExecuted !== true) {
      beginCall(part.id, part.toolName, part.providerMetadata);
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) wholeCall(part);
  }

  function addFile(part: PartOf<'file'>): void {
    const image = imageOf(part);
    if (image !== undefined) output.addImage(image);
  }

  function endReasoning({ id, providerMetadata }: PartOf<'reasoning-end'>): void {
    const signed = head.readSigned(providerMetadata);
    if (isSigned(signed)) output.addReasoning(id, '', signed);
    output.endReasoning(id);
  }

  return (part) => {
    events = [];
    write(part);
    return events;
  };
}
