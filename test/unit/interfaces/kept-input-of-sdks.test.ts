// Every id that the official SDKs can send, in their own types: it refers to something kept at a provider, and the one
// list of that finds it in a request as its interface reads it, or it is named here with what else it is.
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
 * Ids that name nothing outside the request, by what they are. The last two steps of the way, where a type is said its
 * own.
 */
const otherIds: readonly RegExp[] = [
  // A call, its result and what was agreed to, of the same conversation.
  /(^|\.)(tool_call_id|tool_use_id|call_id|approval_request_id|caller\.caller_id|caller\.tool_id)$/,
  /(^|\.)(tool_calls\[\]|pending_safety_checks\[\]|acknowledged_safety_checks\[\])\.id$/,
  // An item or a block that brings its content names itself.
  /^input\[\]\.id$/,
  /^messages\[\]\.content\[\]\.id$/,
  // A tab or a download of the client's own browser.
  /\.(tab_id|download_id)$/,
  // A service of the provider's, the same for everybody: it opens with a credential of the client's own.
  /\.connector_id$/,
  // Who asks.
  /^metadata\.user_id$/,
  // The SDK sends them as headers. That of a workspace of Anthropic's is not passed on.
  /^(user_profile_id|workspace_id)$/,
  // Tool results repeated to the model: nothing is looked up by these ids.
  /^input\[\]\.results\[\]\.file_id$/,
  /^input\[\]\.content\[\]\.annotations\[\]\.(file_id|container_id)$/,
  /^messages\[\]\.content\[\]\.content\.content\[\]\.file_id$/,
];

const pathOf = (way: readonly FieldStep[]): string =>
  way.map(({ name, isList }) => name + (isList ? '[]' : '')).join('.');

/** The smallest body with that id. */
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

it('names nothing beside them that no SDK sends', () => {
  const paths = Object.values(ways).flatMap((list) => list.map(pathOf));
  expect(otherIds.filter((other) => !paths.some((path) => other.test(path)))).toEqual([]);
});
