// Defines an interface that is relayed, with only the plain fields of the gateway. This file has the common parts of
// relayed interfaces, so that each interface is one definition. Most relayed interfaces have JSON bodies and no
// streams.
import type * as z from 'zod/mini';
import { once } from '../../foundation/cache/index.ts';
import { headerNames, type InterfaceId, upstreamBodyMaxBytes } from '../../foundation/constants/index.ts';
import type { FormBody, FormFields } from '../forms/index.ts';
import type { AnswerCost, JsonAnswer, ReadAnswer, WrittenAnswer } from '../wire/index.ts';
import {
  type CallSize,
  type Feature,
  findMember,
  type HubNeed,
  type JsonObject,
  type JsonText,
  pick,
  readProviderPreferences,
  rewriteMembers,
  type Shape,
} from '../wire/index.ts';
import { readAnswerIn, readErrorObject, readUsageMember, type UsageReading } from './answer-json.ts';
import type { BytesAnswer, ClientInterface, ClientRequest } from './client-interface.ts';
import { credentialPlaces } from './credential-places.ts';
import { hubMembers } from './hub-members.ts';
import {
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type plainMembers,
  readModels,
  vendorHeaders,
  withoutGatewayMembers,
} from './plain-members.ts';
import { providerStateOfRelayed } from './provider-state.ts';
import { membersOf } from './read-members.ts';
import { orFault, otherCaseCheck, readPlainBody } from './read-plain-body.ts';

type PlainBody = z.infer<z.ZodMiniObject<typeof plainMembers>>;
type PlainSchema = z.ZodMiniObject<typeof plainMembers & z.core.$ZodShape>;

/** The parts in which one relayed interface differs from the others. */
interface RelayedInterface<Schema extends PlainSchema> {
  readonly id: InterfaceId;
  readonly telemetryOperation: string;
  readonly upstreamPath: string;
  readonly takesLong: boolean;
  /** Checks the fields that the gateway reads, including its plain fields. */
  readonly schema: Schema;
  /** Further fields that are read, and passed on unchanged. */
  readonly uncheckedNames?: readonly string[];
  /** Fields of any length, and the parts of them that are read. */
  readonly shapes?: Readonly<Record<string, Shape>>;
  /** A field that is read only as text, because its contents never become values. */
  readonly unparsedName?: string;
  /** Model of a request that names none. */
  readonly defaultModel?: string;
  /** The field that contains the prompt. */
  readonly promptMember: string;
  /** Reads the input. Throws invalid_request. */
  readonly readInput: (
    json: JsonText,
    body: z.infer<Schema>,
    raw: JsonObject,
    form: FormBody | undefined,
  ) => RelayedInput;
  /** Set if its bodies may be forms too. */
  readonly formFields?: FormFields;
  /** Set if `stream` requests events. */
  readonly streams?: {
    readonly openEventReader: ClientInterface['openEventReader'];
    readonly openStreamWriter: ClientRequest['openStreamWriter'];
  };
  readonly readAnswer: ClientInterface['readAnswer'];
  readonly writeAnswer: ClientRequest['writeAnswer'];
  readonly answerMaxBytes?: number;
  readonly grammar: ClientInterface['grammar'];
  readonly operation: ClientInterface['operation'];
  readonly playground: ClientInterface['playground'];
  readonly packageModels?: ClientInterface['packageModels'];
  readonly measureForm?: ClientInterface['measureForm'];
}

/** Input of one request. */
export interface RelayedInput {
  /** Set if the answer is a stream whatever the value of `stream`. */
  readonly stream?: true;
  readonly bytes?: BytesAnswer | undefined;
  /** Differences from the default size, which is text of the length of the body, and no output. */
  readonly size?: Partial<CallSize>;
  /** Bytes of the longest text that has a context of its own. */
  readonly promptBytes: number;
  readonly hubNeeds?: readonly HubNeed[];
  /** Features besides a stream. */
  readonly features?: readonly Feature[];
}

export function relayedInterface<Schema extends PlainSchema>(definition: RelayedInterface<Schema>): ClientInterface {
  const { id, telemetryOperation, upstreamPath, readAnswer, answerMaxBytes = upstreamBodyMaxBytes } = definition;
  return {
    id,
    telemetryOperation,
    upstreamPath: () => upstreamPath,
    gatewayMembers: plainGatewayMembers,
    schemaMember: undefined,
    takesLong: definition.takesLong,
    callsFunctions: false,
    credentialPlace: credentialPlaces.bearer,
    passedHeaders: vendorHeaders,
    passesQuery: false,
    readRequest: requestReader(definition),
    leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
    answerMaxBytes: () => answerMaxBytes,
    readAnswer,
    openEventReader: definition.streams?.openEventReader ?? neverStreamed,
    formFields: definition.formFields,
    measureForm: definition.measureForm,
    seldomOffered: undefined,
    repairWords: undefined,
    grammar: definition.grammar,
    operation: definition.operation,
    playground: definition.playground,
    translation: undefined,
    packageModels: definition.packageModels,
    cacheMarks: undefined,
  };
}

function requestReader<Schema extends PlainSchema>(
  definition: RelayedInterface<Schema>,
): ClientInterface['readRequest'] {
  const { id, schema, promptMember, readInput, writeAnswer, defaultModel, streams } = definition;
  const { uncheckedNames = [], shapes = {}, unparsedName } = definition;
  const usedNames = [...new Set([...Object.keys(schema.shape), ...plainGatewayMembers, promptMember, 'user'])];
  const refuseOtherCase = otherCaseCheck(usedNames);
  const names = new Set([...usedNames, ...uncheckedNames]);
  if (unparsedName !== undefined) names.delete(unparsedName);
  const plainReading = { schema, reading: { names, shapes, indivisible: plainGatewayMembers }, refuseOtherCase };

  function read(json: JsonText, form: FormBody | undefined): ClientRequest {
    const { raw, body } = readPlainBody(json, plainReading);
    const { size, promptBytes, hubNeeds = [], features = [], ...answer } = readInput(json, body, raw, form);
    const plain: PlainBody = body;
    const asksForEvents = streams !== undefined && raw.stream === true;
    const model = plain.model ?? (plain.models ? undefined : defaultModel);
    return {
      interfaceId: id,
      raw,
      text: () => json,
      ...readModels({ model, models: plain.models }),
      stream: answer.stream ?? asksForEvents,
      bytes: answer.bytes,
      isOutputOpen: size?.isOutputOpen ?? false,
      provider: readProviderPreferences(plain.provider ?? {}),
      cache: plain.cache ?? undefined,
      preset: undefined,
      responseSchema: undefined,
      providerState: providerStateOfRelayed(json),
      answerIs: 'unnamed',
      promptMember,
      outputBoundMember: undefined,
      user: typeof raw.user === 'string' ? raw.user : undefined,
      form,
      needs: () => ({
        features: asksForEvents ? [{ name: 'streaming', member: 'stream' }, ...features] : features,
        schemaMember: undefined,
        storingMember: undefined,
        promptBytes,
      }),
      size: once(() => ({ ...sizeOfText(json), ...size })),
      ...hubMembers(() => json),
      hubNeeds: () => hubNeeds,
      upstreamBody: ({ model: upstreamModel }) => ({
        text: form ? '' : rewriteMembers(json, new Map([...withoutGatewayMembers, ['model', upstreamModel]])),
        form: form?.rewritten(new Map([['model', upstreamModel]]), plainGatewayMembers),
        leftOut: [],
      }),
      schemaCheck: undefined,
      writeAnswer,
      openStreamWriter: streams?.openStreamWriter ?? neverStreamed,
    };
  }
  return (json, { form }) => orFault(() => read(json, form));
}

/** Returns the size of a text. A token is at least one byte of the body, whether the token is text or a number. */
const sizeOfText = (json: JsonText): CallSize => ({
  maxOutputTokens: 0,
  isOutputOpen: false,
  choices: 1,
  predictionBytes: 0,
  textBytes: json.compactBytes,
  mediaTokens: 0,
  claudeToolTokens: 0,
  hasMediaElsewhere: false,
  contexts: 1,
  answersMax: 1,
});

function neverStreamed(): never {
  throw new Error('the interface has no streams');
}

const factsShape = membersOf({ error: {}, object: {}, model: {} });

interface ListAnswer {
  /** The field with the results, which the gateway does not read. */
  readonly list: string;
  /** The field with the usage. */
  readonly usage?: string;
  readonly readUsage?: UsageReading;
}

export function readListAnswer(
  text: string,
  { list, usage = 'usage', readUsage = () => undefined }: ListAnswer,
): Promise<ReadAnswer> {
  const read = (json: JsonText): ReadAnswer => {
    const { error, object, model } = pick(json, 0, factsShape) as Record<string, unknown>;
    if ((error ?? null) !== null || object === 'error') return { kind: 'error', error: readErrorObject(json) };
    const results = findMember(json, list);
    if (results === undefined || !json.isArray(results)) return { kind: 'unreadable' };
    const reported = readUsage(readUsageMember(json, usage));
    const modelName = typeof model === 'string' ? model : undefined;
    return { kind: 'answer', answer: { text, json, usage: reported, outputBytes: 0, model: modelName } };
  };
  return readAnswerIn(text, read, readUsage, usage);
}

/** Adds the cost as a header, for answers without a field for it. */
export const withCostHeader = ({ text }: JsonAnswer, { costUsd }: AnswerCost): WrittenAnswer => ({
  body: text,
  headers: { [headerNames.cost]: costUsd },
});
