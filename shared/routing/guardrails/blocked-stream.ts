// How a stream ends whose text is blocked: the guardrail's message, and an end that says so, in the grammar of its interface.
import { findMember, type JsonText, rewriteMembers } from '../../protocol/wire/index.ts';
import { messageItem } from './blocked-answer.ts';
import { numberAt, objectAt, parsedAt, wordAt } from './event-texts.ts';

export interface BlockedStreamEvent {
  readonly name?: string;
  readonly text: string;
}

/** Follows the events that the client gets. */
export interface BlockedStreamEnd {
  see(json: JsonText): void;
  /** Called with the first event of a stream where that one does not leave. */
  identify?(json: JsonText): void;
  /** Called once, in place of the text that is blocked. */
  message(text: string): BlockedStreamEvent[];
  /** The last events. `usage`: as the provider has reported it. */
  end(usage: unknown): BlockedStreamEvent[];
}

export const streamEnds: Readonly<Record<string, () => BlockedStreamEnd>> = {
  'chat-completions': chatEnd,
  messages: messageEnd,
  responses: responseEnd,
  transcriptions: transcriptionEnd,
};

function chatEnd(): BlockedStreamEnd {
  let head: Record<string, unknown> = {};
  const identify = (json: JsonText) => {
    const [id, object, created, model] = ['id', 'object', 'created', 'model'].map((name) =>
      parsedAt(json, findMember(json, name)),
    );
    head = { id, object, created, model };
  };
  const open = new Set([0]);
  let hasBegun = false;
  const chunk = (more: object): BlockedStreamEvent => ({ text: JSON.stringify({ ...head, ...more }) });
  const ofEach = (delta: object, reason: string | null) =>
    chunk({ choices: [...open].map((index) => ({ index, delta, finish_reason: reason })) });
  return {
    identify,
    see(json) {
      identify(json);
      hasBegun = true;
      const list = findMember(json, 'choices');
      if (list === undefined || !json.isArray(list)) return;
      for (const choice of json.inside(list)) {
        const index = numberAt(json, 'index', choice) ?? 0;
        if (wordAt(json, 'finish_reason', choice) === undefined) open.add(index);
        else open.delete(index);
      }
    },
    message: (content) => [ofEach({ ...(hasBegun ? {} : { role: 'assistant' }), content }, null)],
    end: (usage) => [ofEach({}, 'content_filter'), ...(usage === undefined ? [] : [chunk({ choices: [], usage })])],
  };
}

function messageEnd(): BlockedStreamEnd {
  let openBlock: number | undefined;
  let next = 0;
  const event = (type: string, more: object): BlockedStreamEvent => ({
    name: type,
    text: JSON.stringify({ type, ...more }),
  });
  return {
    see(json) {
      const type = wordAt(json, 'type');
      const index = numberAt(json, 'index') ?? 0;
      if (type === 'content_block_start') {
        openBlock = index;
        next = index + 1;
      } else if (type === 'content_block_stop') openBlock = undefined;
    },
    message(text) {
      const index = next;
      return [
        ...(openBlock === undefined ? [] : [event('content_block_stop', { index: openBlock })]),
        event('content_block_start', { index, content_block: { type: 'text', text: '' } }),
        event('content_block_delta', { index, delta: { type: 'text_delta', text } }),
        event('content_block_stop', { index }),
      ];
    },
    end: (usage) => [
      event('message_delta', {
        delta: { stop_reason: 'refusal', stop_sequence: null },
        usage: usage ?? { output_tokens: 0 },
      }),
      event('message_stop', {}),
    ],
  };
}

function responseEnd(): BlockedStreamEnd {
  let sequence = -1;
  let response: JsonText | undefined;
  const done: string[] = [];
  /** Items that have begun, by their place, as they began. */
  const open = new Map<number, Record<string, unknown>>();
  let places = 0;
  const event = (type: string, more: object): BlockedStreamEvent => {
    sequence += 1;
    return { name: type, text: JSON.stringify({ type, sequence_number: sequence, ...more }) };
  };
  const facts = () => objectIn(response);
  return {
    see(json) {
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
    },
    message(text) {
      const ended = [...open].map(([output_index, begun]) => {
        const item = { ...begun, status: 'incomplete' };
        done.push(JSON.stringify(item));
        return event('response.output_item.done', { output_index, item });
      });
      if (response === undefined) places = 0;
      const output_index =
        response === undefined ? 0 : Math.max(done.length, open.size === 0 && done.length === 0 ? 0 : places);
      const whole = messageItem(String(facts().id ?? ''), text);
      const [part] = whole.content;
      const at = { item_id: whole.id, output_index, content_index: 0 };
      done.push(JSON.stringify(whole));
      return [
        ...ended,
        event('response.output_item.added', { output_index, item: { ...whole, status: 'in_progress', content: [] } }),
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
        event('response.output_text.delta', { ...at, delta: text, logprobs: [] }),
        event('response.output_text.done', { ...at, text, logprobs: [] }),
        event('response.content_part.done', { ...at, part }),
        event('response.output_item.done', { output_index, item: whole }),
      ];
    },
    end(usage) {
      sequence += 1;
      const end = { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage: usage ?? null };
      const text =
        response === undefined
          ? JSON.stringify(end)
          : rewriteMembers(
              response,
              new Map<string, unknown>([['output', undefined], ...Object.entries(end)]),
              objectAt(response, 'response') ?? 0,
            );
      const whole = `${text.slice(0, -1)},"output":[${done.join(',')}]}`;
      return [
        {
          name: 'response.incomplete',
          text: `{"type":"response.incomplete","sequence_number":${sequence},"response":${whole}}`,
        },
      ];
    },
  };
}

/** Its last event has the whole text. */
function transcriptionEnd(): BlockedStreamEnd {
  let said = '';
  const event = (more: object): BlockedStreamEvent => ({ text: JSON.stringify(more) });
  return {
    see(json) {
      if (wordAt(json, 'type') === 'transcript.text.delta') said += wordAt(json, 'delta') ?? '';
    },
    message(delta) {
      said += delta;
      return [event({ type: 'transcript.text.delta', delta })];
    },
    end: (usage) => [event({ type: 'transcript.text.done', text: said, ...(usage === undefined ? {} : { usage }) })],
  };
}

const objectIn = (json: JsonText | undefined): Record<string, unknown> => {
  const response = json && objectAt(json, 'response');
  return json === undefined || response === undefined ? {} : (parsedAt(json, response) as Record<string, unknown>);
};

/** The usage in an event, as its provider wrote it. */
export function usageIn(json: JsonText): unknown {
  const response = objectAt(json, 'response');
  const usage = response === undefined ? objectAt(json, 'usage') : objectAt(json, 'usage', response);
  return usage === undefined ? undefined : parsedAt(json, usage);
}
