// Schemas of all settings of a table, each by the kind of its values.
import * as z from 'zod/mini';
import type { Setting } from '../settings/index.ts';

type ShapeOf<Rows extends Readonly<Record<string, { readonly kind: string }>>, Schemas> = {
  [Name in keyof Rows as Name extends `${string}.${string}` ? never : Name]: Schemas[Rows[Name]['kind'] &
    keyof Schemas];
};

/** Without fields of a setting. */
export const shapeOf = <
  Rows extends Readonly<Record<string, Setting>>,
  Schemas extends Readonly<Record<string, z.ZodMiniType>>,
>(
  rows: Rows,
  schemas: Schemas,
) =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, { kind, description }]) => {
      const schema = name.includes('.') ? undefined : schemas[kind];
      return schema === undefined
        ? []
        : [[name, description === undefined ? schema : schema.check(z.describe(description))]];
    }),
  ) as ShapeOf<Rows, Schemas>;
