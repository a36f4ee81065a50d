// Converts a whole answer of images to its events, and events to an answer.

import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  parseJson,
  sumUsage,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { answerJson, fieldsAsCame, fieldText, stringAt, withFields } from '../index.ts';
import { imageItems } from './images-answer.ts';

/** `prefix` is the prefix of its events' types. */
export const imageDelivery = (prefix: string): OtherDelivery => ({
  toEvents: (answer) => eventsOf(answer, `${prefix}.completed`),
  openFold: foldEvents,
});

/**
 * Fields that each event, and a whole answer besides its images, must have; the values are for an answer without these
 * fields.
 */
const sharedFields = { background: 'auto', output_format: 'png', quality: 'auto', size: 'auto' } as const;

/**
 * Usage of the images after the first, because the first reports the usage of all images, of which more may have
 * arrived than are passed on.
 */
const noUsage = JSON.stringify({
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  total_tokens: 0,
});

/** Fields of an event that do not belong to an image. */
const ownFields = ['type', 'created_at', 'usage'];

function* eventsOf(answer: JsonAnswer, type: string): Generator<EventText> {
  const { json } = answer;
  const created = `"created_at":${fieldText(json, 'created') ?? 0}`;
  const usage = fieldText(json, 'usage');
  let used = usage;
  for (const { item, text, withImage } of imageItems(answer, ownFields)) {
    const shared = Object.entries(sharedFields)
      .filter(([name]) => fieldText(json, name, item) === undefined)
      .map(([name, open]) => `"${name}":${fieldText(json, name) ?? JSON.stringify(open)}`);
    const fields = [`"type":"${type}"`, text.slice(1, -1), created, ...shared];
    if (used !== undefined) fields.push(`"usage":${used}`);
    // The image is added last, because each copy of its megabytes takes milliseconds.
    yield { name: type, text: withImage(`{${fields.filter((field) => field !== '').join(',')}}`) };
    used = usage && noUsage;
  }
}

const fieldsOfEvents = [...ownFields, ...Object.keys(sharedFields)];
const withoutEventFields = Object.fromEntries(fieldsOfEvents.map((name) => [name, undefined]));

/** Opens a fold. Each image comes complete with an event of its own; partial images are not part of an answer. */
function foldEvents(): StreamFold {
  const data: string[] = [];
  const used: JsonObject[] = [];
  let head: readonly string[] = [];

  function add(text: string): void {
    const json = answerJson(text);
    if (stringAt(json, findMember(json, 'type'))?.endsWith('.completed') !== true) return;
    data.push(withFields(json, 0, withoutEventFields));
    const usage = parseJson(fieldText(json, 'usage') ?? 'null');
    if (isJsonObject(usage)) used.push(usage);
    head = [`"created":${fieldText(json, 'created_at') ?? 0}`, ...fieldsAsCame(json, Object.keys(sharedFields))];
  }

  return {
    add,
    whole() {
      const usage = sumUsage(used);
      const sum = usage === undefined ? '' : `"usage":${JSON.stringify(usage)},`;
      // `join` is not used, because it would copy 60 MB here.
      const images = data.reduce((all, one, place) => (place === 0 ? one : `${all},${one}`), '');
      return `{${head.map((field) => `${field},`).join('')}${sum}"data":[${images}]}`;
    },
  };
}
