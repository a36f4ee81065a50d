// Derives the types of a request and of its answer from the row of its route.
import type * as z from 'zod/mini';
import type { DocumentName, Documents } from './managed-documents.ts';
import { managementRoutes, type RouteName, routeNames } from './management-routes.ts';
import type { GatewayFileText, ManagementRoute } from './route-form.ts';

type Routes = typeof managementRoutes;

/** Returns the names in a path, in its order. */
export const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

export type NamesOf<Name> = Name extends `${string}{${infer One}}${infer Rest}` ? One | NamesOf<Rest> : never;

/** Names of all commands that are one request. */
export type CommandWords = {
  [Name in RouteName]: Routes[Name] extends { readonly commands: readonly (infer Words)[] } ? Words : never;
}[RouteName];

export type RouteOf<Words extends CommandWords> = {
  [Name in RouteName]: Routes[Name] extends { readonly commands: readonly (infer Some)[] }
    ? Words extends Some
      ? Name
      : never
    : never;
}[RouteName];

export const routeOf = <Words extends CommandWords>(words: Words): RouteOf<Words> => {
  const found = routeNames.find((name) => (managementRoutes[name] as ManagementRoute).commands?.includes(words));
  if (found === undefined) throw new Error(`no route is the command ${words}`);
  return found as RouteOf<Words>;
};

type MemberOf<Name extends RouteName, Member extends string> = Member extends keyof Routes[Name]
  ? Routes[Name][Member]
  : undefined;

type Written<Body> = Body extends z.ZodMiniObject ? z.input<Body> : Body extends GatewayFileText ? string : undefined;
/** The body as a client sends it. */
export type WrittenBody<Name extends RouteName> = Written<MemberOf<Name, 'body'>>;
export type WrittenQuery<Name extends RouteName> = Written<MemberOf<Name, 'query'>>;

/** The body as its handler gets it. A file is read on demand, because it is not read when its headers are refused. */
type ReadBodyOf<Body> = Body extends z.ZodMiniObject
  ? z.output<Body>
  : Body extends GatewayFileText
    ? () => Promise<string>
    : undefined;
export type ReadBody<Name extends RouteName> = ReadBodyOf<MemberOf<Name, 'body'>>;
export type ReadQuery<Name extends RouteName> = ReadBodyOf<MemberOf<Name, 'query'>>;

export type AnswerOf<Name extends RouteName> = Routes[Name]['answer'] extends { readonly one: infer One }
  ? { readonly data: Documents[One & DocumentName] }
  : Routes[Name]['answer'] extends { readonly list: infer Item }
    ? { readonly data: readonly Documents[Item & DocumentName][]; readonly next_cursor: string | null }
    : { readonly data: object };
