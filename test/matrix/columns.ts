// The columns of the matrix: every client interface at every provider format, whole and as a stream.
import { countsOnly, type InterfaceId, interfaceIds, servingApis } from '../../shared/foundation/constants/index.ts';
import type { Json } from '../support/provider-answers.ts';
import { clientInterfaces, type WrittenText } from './client-interfaces.ts';

export const deliveries = ['whole', 'stream'] as const;
type Delivery = (typeof deliveries)[number];

/** `relayed`: its provider has the same interface. `kind`: its provider has its own form of the interface. */
type Service = 'relayed' | 'translated' | 'kind';

/** How a provider of one format serves an interface; undefined if it cannot. */
interface Way {
  readonly service: Service | undefined;
  /** Fields of the provider. */
  readonly provider: Json;
  readonly format: string;
  /** The prefix of a behaviour's name at the simulator. */
  readonly upstream: string;
}

export interface MatrixColumn extends Way {
  readonly interfaceId: InterfaceId;
  readonly delivery: Delivery;
  /** The name in titles, and in ids of models, providers and keys. */
  readonly name: string;
  readonly entry: Entry;
}

type Entry = (typeof clientInterfaces)[InterfaceId];
type Serving = { native: string; throughHub: readonly string[]; apisByKind?: Readonly<Record<string, string>> };

const servings: readonly Serving[] = interfaceIds.map((id) => servingApis[id]);
const formats = [...new Set(servings.flatMap(({ native, throughHub }) => [native, ...throughHub]))];

/** Throws if the entry lacks the model for a kind of provider. */
function waysOf(id: InterfaceId, entry: Entry): Way[] {
  const { native, throughHub, apisByKind = {} }: Serving = servingApis[id];
  const isTranslated = entry.isRefusedTranslated !== true;
  const models: Readonly<Record<string, string>> = entry.kinds ?? {};
  const unnamed = Object.keys(apisByKind).find((kind) => models[kind] === undefined);
  if (unnamed !== undefined) throw new Error(`${id} has no model of the kind ${unnamed}`);
  const servedFormats = formats.map((format) => ({
    format,
    service: format === native ? 'relayed' : isTranslated && throughHub.includes(format) ? 'translated' : undefined,
    provider: { apis: [format] },
    upstream: '',
  })) satisfies Way[];
  const byKind = Object.keys(apisByKind).map((kind) => ({
    format: `kind ${kind}`,
    service: 'kind',
    provider: { kind, apis: [native] },
    upstream: `${models[kind]}/`,
  })) satisfies Way[];
  return [...servedFormats, ...byKind];
}

/** Throws if an interface has no entry. */
export function columnsOf(entries: Readonly<Partial<Record<InterfaceId, Entry>>>): MatrixColumn[] {
  return interfaceIds.flatMap((interfaceId) => {
    const entry = entries[interfaceId];
    if (entry === undefined) throw new Error(`${interfaceId} has no entry`);
    return waysOf(interfaceId, entry).flatMap((way) =>
      deliveries.map((delivery) => {
        const name = `${interfaceId}-at-${way.format.replace(' ', '-')}-${delivery}`;
        return { ...way, interfaceId, delivery, name, entry };
      }),
    );
  });
}

export const columns: readonly MatrixColumn[] = columnsOf(clientInterfaces);

/** Why a cell is not tested: what its interface or its format lacks. The list is closed. */
export const reasons = {
  'cannot serve': ({ service }) => service === undefined,
  'can serve': ({ service }) => service !== undefined,
  'has no stream': ({ delivery, entry, service }) =>
    delivery === 'stream' && (entry.stream === undefined || service === 'kind'),
  'is whole': ({ delivery }) => delivery === 'whole',
  'has one delivery': ({ entry, service }) => entry.stream === undefined || service === 'kind',
  'has no text of a model': ({ entry }) => entry.text === undefined,
  'has no price': ({ interfaceId }) => countsOnly(interfaceId),
  'calls no provider': ({ interfaceId, service }) => countsOnly(interfaceId) && service !== 'relayed',
  'has no state at the provider': ({ entry }) => entry.reference === undefined,
  'keeps no answer at the provider': ({ entry, service }) => entry.storeFields === undefined || service !== 'relayed',
  'has no tools': ({ entry }) => entry.tool === undefined,
  'has no schema': ({ entry }) => entry.schema === undefined,
  'is not cached': ({ entry }) => entry.cached === undefined,
} as const satisfies Readonly<Record<string, (column: MatrixColumn) => boolean>>;
export type Reason = keyof typeof reasons;

export const textOf = ({ entry }: MatrixColumn): WrittenText => {
  if (entry.text === undefined) throw new Error('no model writes a text there');
  return entry.text;
};
