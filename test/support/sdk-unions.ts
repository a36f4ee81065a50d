// Unions in the official SDKs' own types, compared with the list of the gateway that decides how each is translated.
import { describe, expect, it } from '#jest';
import { literalsOf } from './installed-types.ts';

const imports = `
import type * as Beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type * as Messages from '@anthropic-ai/sdk/resources/messages/messages';
import type * as Shared from '@anthropic-ai/sdk/resources/shared';
import type * as Chat from 'openai/resources/chat/completions/completions';
import type * as Responses from 'openai/resources/responses/responses';
type Names<Union> = Union extends unknown ? keyof Union : never;
type Word<Value> = Extract<NonNullable<Value>, string>;
type TypeOf<Union> = Union extends { type?: infer Type } ? NonNullable<Type> : never;
type FieldsBy<Key extends string, Union> = Union extends { [key in Key]?: infer Name }
  ? \`\${NonNullable<Name> & string}.\${Exclude<keyof Union & string, Key>}\` : never;
`;

export interface SdkUnion {
  readonly title: string;
  readonly type: string;
  /** Returns whether the source itself lists the name. */
  readonly isListed: (name: string) => boolean;
  /** A name as the next version of an SDK may have it. Default: a name of no known form. */
  readonly invented?: string;
}

const inventedOne = 'invented_one';

/** Describes two tests: one for the existing names, and one which shows that a new name would be found. */
export function describeUnions(unions: readonly SdkUnion[]): void {
  const isNew = (title: string) => `new: ${title}`;
  const types = unions.flatMap(({ title, type, invented = inventedOne }) => [
    [title, type],
    [isNew(title), `${type} | '${invented}'`],
  ]);
  const found = literalsOf(imports, Object.fromEntries(types));
  const unlisted = ({ isListed }: SdkUnion, names: readonly string[] = []) => names.filter((name) => !isListed(name));

  describe.each(unions)('$title', (union) => {
    it('are all listed', () => expect(unlisted(union, found[union.title])).toEqual([]));
    it('are missed where one is new', () =>
      expect(unlisted(union, found[isNew(union.title)])).toEqual([union.invented ?? inventedOne]));
  });
}
