// Every field inside a request of the official SDKs' own types is in the gateway's list that decides its translation:
// translated, dropped and reported, or refused with the object around it.

import { type FieldUses, isListedField, type ObjectUse } from '../../../shared/protocol/hub/index.ts';
import * as chat from '../../../shared/protocol/interfaces/chat-completions/translation/chat-fields.ts';
import { blockUse } from '../../../shared/protocol/interfaces/messages/block-types.ts';
import * as messages from '../../../shared/protocol/interfaces/messages/translation/message-fields.ts';
import { itemUse } from '../../../shared/protocol/interfaces/responses/index.ts';
import * as responses from '../../../shared/protocol/interfaces/responses/translation/item-fields.ts';
import { describeUnions, type SdkUnion } from '../../support/sdk-unions.ts';

const listedIn = (uses: FieldUses | undefined) => (field: string) => isListedField(uses, field);

/** Returns a check of `TYPE.FIELD`. A type that is translated as a whole needs no list of its fields. */
const listedOf =
  (usesOf: (type: string) => FieldUses | undefined, isWhole: (type: string) => boolean = () => false) =>
  (pair: string): boolean => {
    const [type = '', field = ''] = pair.split('.');
    return isWhole(type) || isListedField(usesOf(type), field);
  };

/** Returns the fields of an object, or of the object at the name. */
const fieldsIn = (use: ObjectUse, name = ''): FieldUses | undefined =>
  typeof use === 'object' && Object.hasOwn(use, name) ? use[name] : undefined;

const fieldsOfBlock = (type: string) => fieldsIn(messages.useInMessages({ type }));
const fieldsOfRole = (role: string) => fieldsIn(chat.useInMessages({ role }));
const fieldsOfPart = (type: string) => fieldsIn(chat.useInMessages({ type }));
const fieldsInPart = (type: string) => fieldsIn(chat.useInMessages({ type }), type);
/** An item without a type is a message or a reference. */
const fieldsOfItem = (type: string) => fieldsIn(responses.useInInput(type === '' ? { role: 'user' } : { type }));

const ofMessages: readonly SdkUnion[] = [
  {
    title: 'fields of a message of Messages',
    type: 'Names<Beta.BetaMessageParam | Messages.MessageParam>',
    isListed: listedIn(fieldsIn(messages.useInMessages({ role: 'user' }))),
  },
  {
    title: 'fields of blocks of Messages, sent and answered',
    type: "FieldsBy<'type', Beta.BetaContentBlockParam | Messages.ContentBlockParam | Beta.BetaContentBlock | Messages.ContentBlock>",
    isListed: listedOf(fieldsOfBlock, (type) => blockUse(type) !== 'carried'),
    invented: 'text.invented_one',
  },
  {
    title: 'fields of blocks in results of tools of Messages',
    type: "FieldsBy<'type', Beta.BetaToolResultContentBlockParam>",
    isListed: listedOf(fieldsOfBlock, (type) => blockUse(type) !== 'carried'),
    invented: 'image.invented_one',
  },
  {
    title: 'fields of a tool of Messages',
    type: 'Names<Beta.BetaTool | Messages.Tool>',
    isListed: listedIn(messages.toolFields),
  },
  {
    title: 'fields of thinking of Messages',
    type: 'Names<Beta.BetaThinkingConfigParam | Messages.ThinkingConfigParam>',
    isListed: listedIn(messages.thinkingFields),
  },
  {
    title: 'fields of output_config of Messages',
    type: 'Names<Beta.BetaOutputConfig | Messages.OutputConfig>',
    isListed: listedIn(messages.outputFields),
  },
];

const ofChat: readonly SdkUnion[] = [
  {
    title: 'fields of messages of chat completions, sent and answered',
    type: "FieldsBy<'role', Chat.ChatCompletionMessageParam | Chat.ChatCompletionMessage>",
    isListed: listedOf(fieldsOfRole),
    invented: 'user.invented_one',
  },
  {
    title: 'fields of parts of chat completions',
    type: "FieldsBy<'type', Chat.ChatCompletionContentPart | Chat.ChatCompletionContentPartRefusal>",
    isListed: listedOf(fieldsOfPart),
    invented: 'text.invented_one',
  },
  {
    title: 'fields inside parts of chat completions',
    type: `\`image_url.\${keyof Chat.ChatCompletionContentPartImage['image_url']}\`
      | \`input_audio.\${keyof Chat.ChatCompletionContentPartInputAudio['input_audio']}\`
      | \`file.\${keyof Chat.ChatCompletionContentPart.File['file']}\``,
    isListed: listedOf(fieldsInPart),
    invented: 'file.invented_one',
  },
  {
    title: 'fields of calls of tools of chat completions',
    type: 'Names<Chat.ChatCompletionMessageToolCall>',
    isListed: listedIn(fieldsOfPart('function')),
  },
  {
    title: 'fields of tools of chat completions',
    type: 'Names<Chat.ChatCompletionTool>',
    isListed: listedIn(chat.toolFields),
  },
  {
    title: 'fields of functions of chat completions',
    type: "keyof Chat.ChatCompletionFunctionTool['function']",
    isListed: listedIn(chat.functionFields),
  },
];

const ofResponses: readonly SdkUnion[] = [
  {
    title: 'fields of items of Responses, sent and answered',
    type: "FieldsBy<'type', Responses.ResponseInputItem | Responses.ResponseOutputItem>",
    isListed: listedOf(fieldsOfItem, (type) => type !== '' && itemUse({ type }) !== 'carried'),
    invented: 'function_call.invented_one',
  },
  {
    title: 'fields of parts of Responses',
    type: "FieldsBy<'type', Responses.ResponseInputContent | Responses.ResponseFunctionCallOutputItem | Responses.ResponseOutputMessage['content'][number]>",
    isListed: listedOf(fieldsOfItem),
    invented: 'input_text.invented_one',
  },
  {
    title: 'fields of tools of Responses',
    type: "FieldsBy<'type', Responses.FunctionTool | Responses.CustomTool>",
    isListed: listedOf(responses.fieldsOfTool),
    invented: 'function.invented_one',
  },
  {
    title: 'fields of reasoning of Responses',
    type: "keyof NonNullable<Responses.ResponseCreateParams['reasoning']>",
    isListed: listedIn(responses.reasoningFields),
  },
  {
    title: 'fields of text of Responses',
    type: "keyof NonNullable<Responses.ResponseCreateParams['text']>",
    isListed: listedIn(responses.textFields),
  },
];

describeUnions([...ofMessages, ...ofChat, ...ofResponses]);
