// Every id that the official SDKs can send by their own types either refers to an object stored at a provider, and the
// one list of such ids finds it in a request as its interface reads it, or this file says what else it is.
import { describe, expect, it } from '#jest';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { type FieldStep, fieldsNamed } from '../../support/installed-types.ts';
import { requestOf } from './request-of.ts';

const imports = `
import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Responses from 'openai/resources/responses/responses';
`;
const types = {
  chat: 'Chat.ChatCompletionCreateParamsNonStreaming',
  responses: 'Responses.ResponseCreateParamsNonStreaming',
  messages: 'Messages.MessageCreateParamsNonStreaming',
  betaMessages: 'Beta.MessageCreateParamsNonStreaming',
};
type Name = keyof typeof types;

const interfaces: Readonly<Record<Name, ClientInterface>> = {
  chat: chatCompletions,
  responses,
  messages,
  betaMessages: messages,
};

/**
 * Ids that name nothing outside the request, by what they are. Each matches the last two steps of a path, if a type is
 * named its own.
 */
const otherIds: readonly RegExp[] = [
  // These ids name a call, its result and what was approved, all of the same conversation.
  /(^|\.)(tool_call_id|tool_use_id|call_id|approval_request_id|caller\.caller_id|caller\.tool_id)$/,
  /(^|\.)(tool_calls\[\]|pending_safety_checks\[\]|acknowledged_safety_checks\[\])\.id$/,
  // An item or a block with its content in the request has an id of its own.
  /^input\[\]\.id$/,
  /^messages\[\]\.content\[\]\.id$/,
  // This is a tab or a download of the client's own browser.
  /\.(tab_id|download_id)$/,
  // This is a service of the provider, the same for every client; it needs a credential of the client's own.
  /\.connector_id$/,
  // This is the id of the user who makes the call.
  /^metadata\.user_id$/,
  // The SDK sends these as headers. The header of a workspace at Anthropic is not passed on.
  /^(user_profile_id|workspace_id)$/,
  // These are tool results that go back to the model: nothing is looked up by these ids.
  /^input\[\]\.results\[\]\.file_id$/,
  /^input\[\]\.content\[\]\.annotations\[\]\.(file_id|container_id)$/,
  /^messages\[\]\.content\[\]\.content\.content\[\]\.file_id$/,
];

const pathOf = (way: readonly FieldStep[]): string =>
  way.map(({ name, isList }) => name + (isList ? '[]' : '')).join('.');

/** Returns the smallest body with this id. */
const bodyOf = (way: readonly FieldStep[], id: string): object => {
  const last = way.at(-1);
  return way.toReversed().reduce<unknown>((value, { name, isList, typeOfOwner }) => {
    const type = typeOfOwner === undefined ? { role: 'assistant' } : { type: typeOfOwner };
    const isIdList = name === last?.name && /ids$/i.test(name);
    return { ...type, [name]: isList || isIdList ? [value] : value };
  }, id) as object;
};

const ways = fieldsNamed(imports, types, /(^|_)ids?$|I[dD]s?$/);

describe.each(Object.keys(types) as Name[])('%s', (name) => {
  it('has no id that refers to something kept at a provider and is not found', () => {
    const missed = (ways[name] ?? []).flatMap((way) => {
      const path = pathOf(way);
      if (otherIds.some((other) => other.test(path))) return [];
      const { providerState } = requestOf(interfaces[name], bodyOf(way, 'kept_1'));
      return providerState?.some(({ id }) => id === 'kept_1') === true ? [] : [path];
    });
    expect(missed).toEqual([]);
  });
});

it('the list of other ids names nothing that no SDK sends', () => {
  const paths = Object.values(ways).flatMap((list) => list.map(pathOf));
  expect(otherIds.filter((other) => !paths.some((path) => other.test(path)))).toEqual([]);
});
