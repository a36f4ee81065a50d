// Schemas of all settings of a table, by the type of their values.
import * as z from 'zod/mini';
import type { SettingKind, SettingRows } from '../settings/index.ts';

type Schemas = { readonly [Kind in SettingKind]?: z.ZodMiniType };
type ShapeOf<Rows extends SettingRows, Known extends Schemas> = {
  [Name in keyof Rows as Name extends `${string}.${string}` ? never : Name]: Known[Rows[Name]['kind']];
};

/** Returns the schemas, without those of a setting's fields. */
export const shapeOf = <Rows extends SettingRows, const Known extends Schemas>(rows: Rows, schemas: Known) =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([name, { kind, description }]) => {
      const schema = name.includes('.') ? undefined : schemas[kind];
      if (schema === undefined) return [];
      return [[name, description === undefined ? schema : schema.check(z.describe(description))]];
    }),
  ) as ShapeOf<Rows, Known>;
