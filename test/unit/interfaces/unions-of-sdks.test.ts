// Everything that the official SDKs can say, in their own types, stands in the list of the gateway that decides what becomes of it. An
// update of an SDK shows what is new.
import { describe, expect, it } from '#jest';
import { readHubNeeds as chatNeeds } from '../../../shared/protocol/interfaces/chat-completions/hub-needs.ts';
import { isListedTool } from '../../../shared/protocol/interfaces/dearer-features.ts';
import { isListedBlock } from '../../../shared/protocol/interfaces/messages/block-types.ts';
import { isListedItem } from '../../../shared/protocol/interfaces/responses/item-types.ts';
import { readHubNeeds as responseNeeds } from '../../../shared/protocol/interfaces/responses/response-hub-needs.ts';
import { isListedEnd } from '../../../shared/protocol/wire/end-words.ts';
import type { HubNeed } from '../../../shared/protocol/wire/index.ts';
import { isListedMember } from '../../../shared/routing/formats/hub/middle/index.ts';
import { chatMembers } from '../../../shared/routing/formats/hub/sources/chat-completions/chat-call.ts';
import { messageMembers } from '../../../shared/routing/formats/hub/sources/messages/message-call.ts';
import { responseMembers } from '../../../shared/routing/formats/hub/sources/responses/response-call.ts';
import { readDeltaTypes, readEventTypes } from '../../../shared/routing/formats/hub/targets/anthropic-events.ts';
import { isListedEvent } from '../../../shared/routing/formats/hub/targets/responses-events.ts';
import { literalsOf } from '../../support/installed-types.ts';

const imports = `
import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Responses from 'openai/resources/responses/responses';
type Names<Union> = Union extends unknown ? keyof Union : never;
`;

/** A part that is not known is one of which no format can be told. */
const takes = (needs: readonly HubNeed[]): boolean => !needs.some(({ kind }) => kind === 'content_part');

interface Union {
  readonly title: string;
  readonly type: string;
  /** By what the source itself asks. */
  readonly isListed: (member: string) => boolean;
}

const parts: readonly Union[] = [
  {
    title: 'blocks of Messages, sent',
    type: "Beta.BetaContentBlockParam['type'] | Messages.ContentBlockParam['type']",
    isListed: isListedBlock,
  },
  {
    title: 'blocks of Messages, answered',
    type: "Beta.BetaContentBlock['type'] | Messages.ContentBlock['type']",
    isListed: isListedBlock,
  },
  {
    title: 'blocks in results of tools of Messages',
    type: "Beta.BetaToolResultContentBlockParam['type']",
    isListed: isListedBlock,
  },
  {
    title: 'tools of Messages',
    type: "NonNullable<Beta.BetaToolUnion['type'] | Messages.ToolUnion['type']>",
    isListed: isListedTool,
  },
  {
    title: 'members of a Messages request',
    type: 'Names<Beta.MessageCreateParamsNonStreaming | Messages.MessageCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(messageMembers, member),
  },
  {
    title: 'events of Messages',
    type: "Beta.BetaRawMessageStreamEvent['type'] | Messages.RawMessageStreamEvent['type']",
    isListed: (type) => readEventTypes.includes(type),
  },
  {
    title: 'deltas of Messages',
    type: "Beta.BetaRawContentBlockDelta['type'] | Messages.RawContentBlockDelta['type']",
    isListed: (type) => readDeltaTypes.includes(type),
  },
  {
    title: 'items of Responses, sent',
    type: "NonNullable<Responses.ResponseInputItem['type']>",
    isListed: isListedItem,
  },
  {
    title: 'items of Responses, answered',
    type: "NonNullable<Responses.ResponseOutputItem['type']>",
    isListed: isListedItem,
  },
  {
    title: 'parts of Responses',
    type: "Responses.ResponseInputContent['type'] | Responses.ResponseFunctionCallOutputItem['type']",
    isListed: (type) => takes(responseNeeds({ input: [{ role: 'user', content: [{ type }] }] })),
  },
  { title: 'tools of Responses', type: "Responses.Tool['type']", isListed: isListedTool },
  {
    title: 'members of a Responses request',
    type: 'Names<Responses.ResponseCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(responseMembers, member),
  },
  { title: 'events of Responses', type: "Responses.ResponseStreamEvent['type']", isListed: isListedEvent },
  {
    title: 'parts of chat completions',
    type: "Chat.ChatCompletionContentPart['type']",
    isListed: (type) => takes(chatNeeds({ messages: [{ role: 'user', content: [{ type }] }] })),
  },
  { title: 'tools of chat completions', type: "Chat.ChatCompletionTool['type']", isListed: isListedTool },
  {
    title: 'members of a chat completion',
    type: 'Names<Chat.ChatCompletionCreateParamsNonStreaming>',
    isListed: (member) => isListedMember(chatMembers, member),
  },
];

const ends: readonly Union[] = [
  { title: 'ends of Messages', type: 'Beta.BetaStopReason | Messages.StopReason', isListed: isListedEnd },
  {
    title: 'ends of Responses',
    type: "Responses.ResponseStatus | NonNullable<Responses.Response.IncompleteDetails['reason']>",
    isListed: isListedEnd,
  },
  {
    title: 'ends of chat completions',
    type: "Chat.ChatCompletion.Choice['finish_reason']",
    isListed: isListedEnd,
  },
];
const unions: readonly Union[] = [...parts, ...ends];

const types = Object.fromEntries(unions.map(({ title, type }) => [title, type]));
const found = literalsOf(imports, types);
/** As the next version of an SDK may have it. */
const invented = literalsOf(
  imports,
  Object.fromEntries(unions.map(({ title, type }) => [title, `${type} | 'invented_one'`])),
);

const unlisted = ({ isListed }: Union, members: readonly string[] = []): string[] =>
  members.filter((member) => !isListed(member));

describe.each(unions)('$title', (union) => {
  it('are all listed', () => expect(unlisted(union, found[union.title])).toEqual([]));
  it('are missed where one is new', () => expect(unlisted(union, invented[union.title])).toEqual(['invented_one']));
});
