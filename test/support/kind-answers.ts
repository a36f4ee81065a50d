// The table of answers: a file for each kind of providers, an entry for each interface that the kind lists.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProviderKind, providerKindNames, providerKinds } from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import type { RecordedTurn } from './recorded-turn.ts';

type Json = Record<string, unknown>;

/** Bytes in place of JSON. */
export interface AnswerBytes {
  readonly $base64: string;
  readonly $type?: string;
}

/** Fields that the call's record has. */
export type ExpectedCharge = Readonly<Record<string, unknown>>;

export interface ListedAnswer {
  readonly body: Json | AnswerBytes;
  /** The turn that every client receives from a model that writes a conversation. */
  readonly turn?: RecordedTurn;
  /** The fields of the client's JSON, or the bytes, that other models answer with. */
  readonly gets?: Json | AnswerBytes;
  readonly charged?: ExpectedCharge;
}

export interface ListedStream {
  /** Data of events; those of Converse have one key each, the type of the frame. */
  readonly chunks: readonly Json[];
  /** Set if the stream ends with `[DONE]` although its format is not that of chat completions. */
  readonly done?: true;
  readonly turn?: RecordedTurn;
  /** Texts in the client's stream, in this order. */
  readonly gets?: readonly string[];
  readonly charged?: ExpectedCharge;
}

export interface ListedRefusal {
  readonly status: number;
  readonly body: Json;
  /** Part of the text that the client reads; absent if the provider sends none. */
  readonly words?: string;
  readonly reason?: string;
  /** Page that contains the text. */
  readonly source: string;
}

/** Parts that an entry may lack, if no source has them. */
export type AnswerPart = 'streams' | 'refusals';

export interface InterfaceAnswers {
  readonly source: string;
  readonly date: string;
  /** The provider's name of a model with this interface. */
  readonly model: string;
  readonly whole: readonly ListedAnswer[];
  readonly streams?: readonly ListedStream[];
  /** Streams that the provider breaks with errors of its own. */
  readonly broken?: readonly (readonly Json[])[];
  /** Comments that are sent before the first event. */
  readonly comments?: string;
  /**
   * Further finish reasons of an answer, in addition to those of the recorded answers. `failed` is an answer that
   * failed.
   */
  readonly ends?: Readonly<Record<string, string>>;
  readonly refusals?: readonly ListedRefusal[];
  /** Parts that no source has. */
  readonly unsourced?: readonly AnswerPart[];
  /** Reason why the official SDK of the interface reads something else in a relayed answer. */
  readonly relayedOtherwise?: string;
  /** Reason why a relayed usage has other counts than are charged. */
  readonly relayedUsage?: string;
}

/** Answers of a kind. `as` names the kind whose answers the provider documents as its own. */
type WrittenAnswers =
  | InterfaceAnswers
  | (Partial<InterfaceAnswers> & { readonly source: string; readonly as: ProviderKind });
type KindFile = Readonly<Partial<Record<ProviderApi, WrittenAnswers>>>;

const readKind = (kind: ProviderKind): KindFile =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../kinds/answers', `${kind}.json`), 'utf8')) as KindFile;

export interface AnswerRow {
  readonly kind: ProviderKind;
  readonly api: ProviderApi;
  readonly answers: InterfaceAnswers;
}

/** Lists every interface of a kind, with its address. */
export const servedApis = (kind: ProviderKind): readonly ProviderApi[] => [
  ...new Set([...providerKinds[kind].apis, ...(providerKinds[kind].furtherApis ?? [])]),
];

export function readRows(): AnswerRow[] {
  const files = new Map(providerKindNames.map((kind) => [kind, readKind(kind)]));
  return providerKindNames.flatMap((kind) =>
    (Object.entries(files.get(kind) ?? {}) as [ProviderApi, WrittenAnswers][]).map(([api, answersOfApi]) => {
      if (!('as' in answersOfApi)) return { kind, api, answers: answersOfApi };
      const other = files.get(answersOfApi.as)?.[api];
      if (other === undefined || 'as' in other)
        throw new Error(`${kind} ${api}: ${answersOfApi.as} has no such answers`);
      return { kind, api, answers: { ...other, ...answersOfApi } };
    }),
  );
}
