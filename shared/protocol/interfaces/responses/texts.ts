// Finds the texts that a model reads and writes in Responses, and writes the end of a blocked response.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece } from '../index.ts';
import {
  answerJson,
  commonSettings,
  jsonWithSlices,
  numberAt,
  objectAt,
  openWrittenEvents,
  parsedAt,
  pieceOf,
  textsOfAnswer,
  wholeTexts,
  wordAt,
  wordsOf,
} from '../index.ts';
import { type EmitResponseEvent, openResponseWriter, type ResponseWriter } from './event-writer.ts';
import { writeItem } from './other-delivery.ts';

export const responseSettings = commonSettings.union(
  wordsOf(`
    max_output_tokens reasoning background background_options include previous_response_id conversation truncation client_metadata
    parallel_tool_calls max_tool_calls
  `),
);

/** Settings that a response repeats from its request, in which a model writes no text. */
const settingFields = wordsOf(`
  id object created_at completed_at background conversation instructions max_output_tokens max_tool_calls metadata model
  parallel_tool_calls previous_response_id prompt_cache_key prompt_cache_retention reasoning safety_identifier
  service_tier store temperature text tool_choice tools top_logprobs top_p frequency_penalty presence_penalty truncation
  user usage
`);

/** Fields of a response, or of a list of items, that no model wrote. */
const facts = settingFields.union(wordsOf('status error incomplete_details first_id last_id has_more'));

export const responseTexts: AnswerTexts = {
  answerTexts: (json) => textsOfAnswer(json, facts),
  eventPieces,
  eventsStandAlone: false,
  spellingFields: wordsOf('logprobs'),
  blocked: blockedResponse,
  openBlockedEnd,
};

function eventPieces(json: JsonText): EventPiece[] {
  const type = wordAt(json, 'type') ?? '';
  const delta = findMember(json, 'delta');
  if (type.endsWith('.delta') && delta !== undefined && json.isString(delta)) {
    const places = ['output_index', 'content_index', 'summary_index'].map((name) => numberAt(json, name) ?? '');
    return pieceOf(json, delta, /arguments/.test(type) ? 'arguments' : 'text', [type, ...places].join('/'));
  }
  return json.members().flatMap(({ name, value }): EventPiece[] => {
    if (name !== 'response' || !json.isObject(value)) return wholeTexts(json, value, name);
    return json.members(value).flatMap((member) => {
      return facts.has(member.name) ? [] : wholeTexts(json, member.value, member.name);
    });
  });
}

const messageItem = (responseId: string, text: string, status = 'completed') => ({
  id: `msg_guardrail_${responseId.replaceAll(/\W/g, '')}`,
  type: 'message',
  role: 'assistant',
  status,
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const incomplete = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } as const;

function settingsOf(json: JsonText, object: number): string[] {
  const texts: string[] = [];
  for (const { name, value } of json.members(object)) {
    if (settingFields.has(name)) texts.push(`${JSON.stringify(name)}:${json.slice(value)}`);
  }
  return texts;
}

function blockedResponse(json: JsonText, message: string): string {
  const item = messageItem(wordAt(json, 'id') ?? '', message);
  if (wordAt(json, 'object') === 'list') {
    return JSON.stringify({ object: 'list', data: [item], first_id: item.id, last_id: item.id, has_more: false });
  }
  const end = { error: null, ...incomplete, output: [item] };
  return `{${[...settingsOf(json, 0), JSON.stringify(end).slice(1, -1)].join(',')}}`;
}

function openBlockedEnd(): BlockedEnd {
  let sequence = -1;
  let response: JsonText | undefined;
  /** The response at its begin, if that event was not sent. */
  let startedResponse: JsonText | undefined;
  const done: string[] = [];
  /** Items that have started, by their index, as they started. */
  const open = new Map<number, Record<string, unknown>>();
  let places = 0;
  const write = (place: number, use: (writer: ResponseWriter) => void): EventText[] => {
    const events = openWrittenEvents();
    const emit: EmitResponseEvent = (type, fields, beside) => {
      sequence += 1;
      if (beside?.item !== undefined) done.push(jsonWithSlices(beside.item));
      events.add(type, {
        type,
        sequence_number: sequence,
        ...fields,
        ...(beside?.item === undefined ? {} : { item: beside.item }),
      });
    };
    use(openResponseWriter(emit, place));
    return events.take();
  };
  const source = () => response ?? startedResponse;
  const responseIn = (json: JsonText | undefined) => (json === undefined ? undefined : objectAt(json, 'response'));
  const idOf = (json: JsonText | undefined) => (json && wordAt(json, 'id', responseIn(json) ?? 0)) ?? '';

  function see(json: JsonText): void {
    sequence = numberAt(json, 'sequence_number') ?? sequence;
    const type = wordAt(json, 'type');
    const at = numberAt(json, 'output_index') ?? 0;
    if (type === 'response.created') response = json;
    places = Math.max(places, at + 1);
    const item = objectAt(json, 'item');
    if (item === undefined) return;
    if (type === 'response.output_item.added') open.set(at, parsedAt(json, item) as Record<string, unknown>);
    if (type === 'response.output_item.done') {
      open.delete(at);
      done.push(json.slice(item));
    }
  }

  function message(text: string): EventText[] {
    const ended = [...open].flatMap(([place, started]) =>
      write(place, (writer) => writer.endItem({ ...started, status: 'incomplete' })),
    );
    const place = response === undefined ? 0 : Math.max(done.length, open.size === 0 && done.length === 0 ? 0 : places);
    const item = answerJson(JSON.stringify(messageItem(idOf(source()), text)));
    return [...ended, ...write(place, (writer) => writeItem(writer, item, 0))];
  }

  function end(usage: unknown): EventText[] {
    sequence += 1;
    const [json, object] = [source(), responseIn(source())];
    const settings = json === undefined || object === undefined ? [] : settingsOf(json, object);
    const settingTexts = settings.filter((text) => !text.startsWith('"usage"'));
    const facts = JSON.stringify({ error: null, ...incomplete, usage: usage ?? null }).slice(1, -1);
    const whole = `{${[...settingTexts, facts].join(',')},"output":[${done.join(',')}]}`;
    const text = `{"type":"response.incomplete","sequence_number":${sequence},"response":${whole}}`;
    return [{ name: 'response.incomplete', text }];
  }

  return {
    identify: (json) => {
      startedResponse = json;
    },
    see,
    message,
    end,
  };
}
