// References of a request to input that a provider stores. This is the only list of them, for all interfaces, because a
// provider that is a gateway itself accepts fields of other interfaces. Stored input reserves the whole context of the
// model, only its provider has it, and a workspace that did not create it cannot reach it with a credential of the
// gateway.
import {
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  pathOf,
  presence,
  type Shape,
  type StateReference,
} from '../wire/index.ts';
import { membersOf } from './read-members.ts';

const idShape = membersOf({ id: {} });
const skillsShape: Shape = { items: membersOf({ type: {}, skill_id: {} }) };
const filesShape: Shape = { items: {} };
const googleShape = membersOf({ cached_content: {} });

/** Fields of a body, with the parts of them that are read. */
export const stateMemberShapes: Readonly<Record<string, Shape>> = {
  previous_response_id: {},
  conversation: idShape,
  prompt: idShape,
  cached_content: {},
  cachedContent: {},
  google: googleShape,
  extra_body: membersOf({ google: googleShape }),
  thread: membersOf({ type: {}, previous_message_id: {} }),
  container: membersOf({ id: {}, skills: skillsShape }),
  audio: membersOf({ voice: idShape }),
  background_options: membersOf({ continuation_id: {} }),
  prompt_cache_options: membersOf({ comparison_response_id: {} }),
  diagnostics: membersOf({ previous_message_id: {} }),
};

/** The referring value of each field; undefined or null if it refers to nothing. */
const stateMembers: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  previous_response_id: (body) => body.previous_response_id,
  conversation: (body) => body.conversation,
  // A string is the prompt itself.
  prompt: ({ prompt }) => (typeof prompt === 'string' ? undefined : prompt),
  cached_content: (body) => body.cached_content,
  cachedContent: (body) => body.cachedContent,
  'google.cached_content': ({ google }) => inside(google).cached_content,
  'extra_body.google.cached_content': ({ extra_body: extra }) => inside(inside(extra).google).cached_content,
  thread: ({ thread }) => (inside(thread).type === 'continue' ? (inside(thread).previous_message_id ?? thread) : null),
  // A container without an id is created for this call.
  container: ({ container }) => (isJsonObject(container) ? container.id : container),
  // A string is one of the provider's own voices.
  'audio.voice': ({ audio }) => inside(inside(audio).voice).id,
  // The ids name requests of the account, which may belong to another workspace.
  'background_options.continuation_id': ({ background_options: options }) => inside(options).continuation_id,
};

/** Fields of answers with which a provider compares the request. */
const comparedMembers: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  'prompt_cache_options.comparison_response_id': ({ prompt_cache_options: options }) =>
    inside(options).comparison_response_id,
  'diagnostics.previous_message_id': ({ diagnostics }) => inside(diagnostics).previous_message_id,
};

const inside = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Fields of a part, an item or a tool that contain references. */
export const statePartShapes: Readonly<Record<string, Shape>> = {
  type: {},
  id: {},
  file_id: {},
  file_url: {},
  image_url: membersOf({ url: {}, detail: {}, file_id: {} }),
  // These are formats of Google, Mistral and vLLM.
  video_url: membersOf({ url: {} }),
  audio_url: membersOf({ url: {} }),
  document_url: membersOf({ url: {} }),
  file: membersOf({ file_id: {} }),
  image_file: membersOf({ file_id: {} }),
};
/** Fields of a chat completion's message that contain references. */
export const stateMessageShapes: Readonly<Record<string, Shape>> = { audio: idShape };
const environmentShape = membersOf({ type: {}, container_id: {}, file_ids: filesShape, skills: skillsShape });
export const stateItemShapes: Readonly<Record<string, Shape>> = {
  ...statePartShapes,
  encrypted_content: presence,
  result: presence,
  container_id: {},
  environment: environmentShape,
};
export const stateToolShapes: Readonly<Record<string, Shape>> = {
  vector_store_ids: { items: {} },
  tunnel_id: {},
  container: membersOf({ file_ids: filesShape }),
  environment: environmentShape,
  input_image_mask: membersOf({ file_id: {} }),
};

const idNames = ['file_id', 'container_id', 'tunnel_id', 'file_ids', 'vector_store_ids'] as const;
const urlFields = ['image_url', 'video_url', 'audio_url', 'document_url'] as const;
const urlNames = ['url', 'file_url', ...urlFields] as const;
/** Fields that contain parts and references, in messages, items and tools. */
const containers = [
  ...['content', 'output', 'source', 'file', 'image_file', ...urlFields],
  ...['input_image_mask', 'container', 'environment', 'skills', 'tools', 'tool', 'definition'],
] as const;

/** Matches URLs that a provider opens with the credential of the call. */
const storageUrl = /^(?:gs|s3):\/\/|^https:\/\/generativelanguage\.googleapis\.com\/(?:upload\/)?v\w+\/files\//i;

export const isStorageUrl = (url: string): boolean => storageUrl.test(url);

/** Maximum number of references. Longer conversations send their items themselves. */
export const providerStateMax = 1_024;

const partLists: readonly string[] = ['messages', 'input', 'system', 'tools'];

/** Matches text that every body with references to stored input contains. */
const referenceSign =
  /"(?:file_ids?|container(?:_id)?|skill_id|vector_store_ids|tunnel_id|previous_\w+_id|conversation|thread|cached_?[cC]ontent|item_reference|voice)"|(?:gs|s3):\/\/|generativelanguage\.googleapis\.com/;

/** Returns the references of a body that an interface relays unchanged, in whatever field they are. */
export function providerStateOfRelayed(json: JsonText): readonly StateReference[] {
  if (!referenceSign.test(json.text)) return [];
  const body = parseJson(json.text);
  if (!isJsonObject(body)) return [];
  const { file_id, file_ids } = body;
  const otherFields = Object.keys(body).filter((name) => !partLists.includes(name));
  return providerStateIn({ ...body, files: { file_id, file_ids } }, [...partLists, ...otherFields, 'files']);
}

/**
 * Returns references as they follow each other in the body, each id once, and at most one more than the allowed number.
 */
export function providerStateIn(body: JsonObject, lists = partLists): readonly StateReference[] {
  const found = new Map<string, StateReference>();
  const add = (member: string, value: unknown, isCompared = false): void => {
    if (found.size > providerStateMax || (value ?? null) === null || value === '') return;
    const reference = isJsonObject(value) && typeof value.id === 'string' ? value.id : value;
    const id = typeof reference === 'string' ? reference : undefined;
    const key = id ?? ` ${member}`;
    if (!found.has(key)) found.set(key, { member, isCompared, ...(id === undefined ? {} : { id }) });
  };
  const mayRefer = Object.keys(body).some((name) => Object.hasOwn(stateMemberShapes, name));
  if (mayRefer) for (const [member, valueIn] of Object.entries(stateMembers)) add(member, valueIn(body));
  for (const name of lists) addParts(body[name], [name], add);
  addParts(inside(body.container).skills, ['container', 'skills'], add);
  // References that are also input were found above.
  if (mayRefer) for (const [member, valueIn] of Object.entries(comparedMembers)) add(member, valueIn(body), true);
  return [...found.values()];
}

/** True if any reference brings input to the model or to the work of its provider. */
export const bringsInput = (references: readonly StateReference[]): boolean =>
  references.some(({ isCompared }) => !isCompared);

/** Fields, and types, without which an object cannot have a reference. */
const idFields: ReadonlySet<string> = new Set([...idNames, ...urlNames, 'id', 'container', 'skill_id', 'audio']);
const stateTypes: ReadonlySet<unknown> = new Set(['item_reference', 'reasoning', 'image_generation_call']);
const partFields: ReadonlySet<string> = new Set(containers);

type Add = (member: string, id: unknown) => void;

/**
 * Adds the references of parts. It recurses within the depth of a body. `trail` has the names and positions from the
 * body inwards.
 */
function addParts(value: unknown, trail: (string | number)[], add: Add): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      trail.push(at);
      addParts(value[at], trail, add);
      trail.pop();
    }
    return;
  }
  if (!isJsonObject(value)) return;
  let hasIds = false;
  let hasParts = false;
  // The loop visits the few fields of an object, not all known names, because a body may have 90,000 objects.
  for (const name in value) {
    hasIds ||= idFields.has(name) || (name === 'type' && stateTypes.has(value.type));
    hasParts ||= typeof value[name] === 'object' && partFields.has(name);
  }
  if (hasIds) for (const id of idsIn(value)) add(pathOf(trail), id);
  if (!hasParts) return;
  for (const name of containers) {
    if ((value[name] ?? null) === null) continue;
    trail.push(name);
    addParts(value[name], trail, add);
    trail.pop();
  }
}

function* idsIn(value: JsonObject): Generator<unknown> {
  if ((isItemReference(value) || isWithoutContent(value)) && !isOwnItemId(value.id)) yield value.id;
  for (const name of idNames) {
    const references = value[name];
    if (Array.isArray(references)) yield* references;
    else if (typeof references === 'string') yield references;
  }
  for (const name of urlNames) {
    const url = value[name];
    if (typeof url === 'string' && storageUrl.test(url)) yield url;
  }
  // A container may be named by its id alone.
  if (typeof value.container === 'string') yield value.container;
  // Skills of an account belong to the account; the vendor's own skills are open to everyone.
  if (typeof value.skill_id === 'string' && value.type !== 'anthropic') yield value.skill_id;
  // An assistant's earlier audio is a reference too.
  if ((value.role ?? null) !== null && isJsonObject(value.audio)) yield value.audio.id;
}

/** True for a reference to an item of Responses, by its type, or by an id with neither content nor type. */
const isItemReference = ({ type, id, role, content }: JsonObject): boolean =>
  type === 'item_reference' ||
  ((type ?? null) === null && (content ?? null) === null && (role ?? null) === null && typeof id === 'string');

/** Fields without which the item is looked up by its id. Open models think in plain text. */
const contentFields = { reasoning: ['encrypted_content', 'content'], image_generation_call: ['result'] } as const;

function isWithoutContent(item: JsonObject): boolean {
  const { type, id } = item;
  if ((type !== 'reasoning' && type !== 'image_generation_call') || typeof id !== 'string') return false;
  return contentFields[type].every((name) => isEmpty(item[name]));
}

const isEmpty = (value: unknown): boolean => (value ?? null) === null || (Array.isArray(value) && value.length === 0);

// Ids of items in answers that the gateway wrote itself. They are recognizable, because no provider knows them.

export const ownItemMark = '_gw_';

/** Returns the prefix of an id with this mark, or undefined for any other id. */
export const ownItemKind = (id: unknown): string | undefined =>
  typeof id === 'string' ? /^([a-z]+)_gw_\w+$/.exec(id)?.[1] : undefined;

export const isOwnItemId = (id: unknown): boolean => ownItemKind(id) !== undefined;
