// The table of answers: a file for each kind of providers, an entry for each interface that the kind lists.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProviderKind, providerKindNames, providerKinds } from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import type { RecordedTurn } from './recorded-turn.ts';

type Json = Record<string, unknown>;

/** AnswerBytes in place of JSON. */
export interface AnswerBytes {
  readonly $base64: string;
  readonly $type?: string;
}

/** Fields that the call's record has. */
export type ExpectedCharge = Readonly<Record<string, unknown>>;

export interface ListedAnswer {
  readonly body: Json | AnswerBytes;
  /** Of a model that writes a conversation: the turn that every client has. */
  readonly turn?: RecordedTurn;
  /** Of other models: what the client's JSON has, or the bytes. */
  readonly gets?: Json | AnswerBytes;
  readonly charged?: ExpectedCharge;
}

export interface ListedStream {
  /** Data of events; of Converse one key each, the type of its frame. */
  readonly chunks: readonly Json[];
  /** The stream ends with `[DONE]` although its format is not that of chat completions. */
  readonly done?: true;
  readonly turn?: RecordedTurn;
  /** Texts in the client's stream, in this order. */
  readonly gets?: readonly string[];
  readonly charged?: ExpectedCharge;
}

export interface ListedRefusal {
  readonly status: number;
  readonly body: Json;
  /** Part of what the client reads; absent where the provider says nothing. */
  readonly words?: string;
  readonly reason?: string;
  /** Where the words were read. */
  readonly source: string;
}

/** What an entry may lack, where no source has it. */
export type AnswerPart = 'streams' | 'refusals';

export interface InterfaceAnswers {
  readonly source: string;
  readonly date: string;
  /** The provider's name of a model with this interface. */
  readonly model: string;
  readonly whole: readonly ListedAnswer[];
  readonly streams?: readonly ListedStream[];
  /** Streams that the provider breaks in its own words. */
  readonly broken?: readonly (readonly Json[])[];
  /** Sent before the first event. */
  readonly comments?: string;
  /** Words for an end, beside those of the recorded answers. `failed`: an answer that is none. */
  readonly ends?: Readonly<Record<string, string>>;
  readonly refusals?: readonly ListedRefusal[];
  /** Parts that no source has. */
  readonly unsourced?: readonly AnswerPart[];
  /** Why the official SDK of the interface reads something else in a relayed answer. */
  readonly relayedOtherwise?: string;
  /** Why a relayed usage has other counts than are charged. */
  readonly relayedUsage?: string;
}

/** `as`: the kind whose answers the provider documents as its own. */
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

/** Every interface that a kind lists, with its address. */
export const servedApis = (kind: ProviderKind): readonly ProviderApi[] => [
  ...new Set([...providerKinds[kind].apis, ...(providerKinds[kind].furtherApis ?? [])]),
];

export function readRows(): AnswerRow[] {
  const files = new Map(providerKindNames.map((kind) => [kind, readKind(kind)]));
  return providerKindNames.flatMap((kind) =>
    (Object.entries(files.get(kind) ?? {}) as [ProviderApi, WrittenAnswers][]).map(([api, written]) => {
      if (!('as' in written)) return { kind, api, answers: written };
      const other = files.get(written.as)?.[api];
      if (other === undefined || 'as' in other) throw new Error(`${kind} ${api}: ${written.as} has no such answers`);
      return { kind, api, answers: { ...other, ...written } };
    }),
  );
}
