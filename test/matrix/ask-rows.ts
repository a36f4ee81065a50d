// Runs the cells of one group of rows at one gateway, each as a test.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedTables } from '../support/balanced-books.ts';
import { framesAsEvents } from '../support/frames-as-events.ts';
import { type GatedProvider, type GateMode, startGatedProvider } from '../support/gated-provider.ts';
import { newKey, type Route } from '../support/gateway-file.ts';
import { type Harness, type HarnessOptions, startHarness } from '../support/harness.ts';
import { sendRequest } from '../support/http-client.ts';
import type { Json } from '../support/provider-answers.ts';
import { columns, type MatrixColumn } from './columns.ts';
import { pendingCells } from './pending.ts';
import { always, askedCells, type Group, type RowOf, reasonOf } from './rows.ts';

/** A provider of a model in the matrix. */
export interface Offer {
  readonly behaviour: string;
  /** The gate in front of the provider, if there is one. */
  readonly gate?: GateMode;
  /** Fields of the provider. */
  readonly provider?: Json;
  /** Fields of its entry in the model. */
  readonly more?: Json;
}

export interface Call {
  /** The base path; the default is /v1. */
  readonly base?: string;
  /** The name among the group's models. */
  readonly model: string;
  /** The text; the default is a greeting. */
  readonly text?: string;
  /** Further fields of the body. */
  readonly more?: Json;
  readonly headers?: Record<string, string>;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export interface MatrixCell extends MatrixColumn {
  readonly harness: Harness;
  readonly gate: GatedProvider;
  send(call: Call): Promise<Response>;
  /** Returns the body of a call. */
  fieldsOf(call: Call): Json;
  /** Returns the ids of a model's providers, in their order. */
  providersOf(model: string): string[];
  /**
   * Returns the record of an answered call after its charge, as its key sees it. The default key is that of the
   * harness.
   */
  recordOf(response: Response, key?: string): Promise<Json>;
  /** Returns the calls that a model's providers have received so far. */
  received(model: string): Harness['simulator']['calls'];
}

export interface GroupOptions<One extends Group> {
  /** Models by name; if a column has no offer, it lacks this model. */
  readonly models: Readonly<Record<string, (column: MatrixColumn) => readonly Offer[]>>;
  /** The models of providers that cannot serve the interface; none by default. */
  readonly unservable?: readonly string[];
  /** Further options of the harness. Called once. */
  readonly options?: () => Promise<Partial<HarnessOptions>> | Partial<HarnessOptions>;
  readonly ask: Readonly<Record<RowOf<One>, (cell: MatrixCell) => Promise<void>>>;
  readonly stop?: () => Promise<void>;
}

/** A field that changes no answer, which the operator of a provider may drop. */
export const idleField = 'matrix_tag';
export const idle = { [idleField]: 'idle' };

/** The cost of each call. */
export const callUsd = '0.01';
export const callPicoUsd = 10_000_000_000n;
const prices = { input_price_per_million: '0', output_price_per_million: '0', price_per_request: callUsd };

const servable = columns.filter((column) => reasonOf(always, column) === undefined);

const providerId = ({ name }: MatrixColumn, model: string, at: number): string => `${name}.${model}.${at}`;

function catalogueOf(
  models: GroupOptions<Group>['models'],
  unservable: readonly string[],
  gateOf: GatedProvider['urlOf'],
): Pick<HarnessOptions, 'models' | 'providers'> {
  const routes: Record<string, Route[]> = {};
  const providers: Record<string, Json> = {};
  for (const column of columns) {
    for (const [model, offersOf] of Object.entries(models)) {
      if (column.service === undefined && !unservable.includes(model)) continue;
      const offers = offersOf(column);
      if (offers.length === 0) continue;
      routes[`${column.name}/${model}`] = offers.map(({ behaviour, gate, provider, more }, at) => {
        const id = providerId(column, model, at);
        providers[id] = { ...column.provider, ...(gate && { base_url: gateOf(gate, id) }), ...provider };
        return { provider: id, upstream: `${column.upstream}${behaviour}`, more: { ...prices, ...more } };
      });
    }
  }
  return { models: routes, providers };
}

/** One key for each column, in one workspace or in a workspace each. */
export const keysByColumn: ReadonlyMap<string, string> = new Map(servable.map(({ name }) => [name, newKey()]));
export const mapColumns = <Made>(make: (column: MatrixColumn) => Made): Made[] => servable.map(make);

const isPending = (row: string, { name }: MatrixColumn): boolean =>
  pendingCells.some((pending) => pending.row === row && (pending.columns?.includes(name) ?? true));

export function askRows<One extends Group>(
  group: One,
  { models, unservable = [], options, ask, stop }: GroupOptions<One>,
): void {
  let harness: Harness;
  let gate: GatedProvider;
  beforeAll(async () => {
    gate = await startGatedProvider((provider) => harness.simulator.urlOf(provider));
    const catalogue = catalogueOf(models, unservable, gate.urlOf);
    harness = await startHarness({ ...catalogue, mayLeaveFaults: true, ...(await options?.()) });
  });
  afterAll(async () => {
    await harness.settled();
    await expectBalancedTables(harness);
    await harness.stop();
    await gate.stop();
    await stop?.();
  });
  for (const [row, cells] of askedCells(group, ask)) {
    describe(row, () => {
      for (const column of cells) {
        it(column.name, async () => {
          const cell = ask[row](cellOf(column, harness, gate));
          if (isPending(row, column)) await expect(cell).rejects.toThrow();
          else await cell;
        });
      }
    });
  }
}

function cellOf(column: MatrixColumn, harness: Harness, gate: GatedProvider): MatrixCell {
  const { entry, name, delivery } = column;
  const providersOf = (model: string): string[] => [0, 1].map((at) => providerId(column, model, at));
  const fieldsOf = ({ model, text = 'Hello', more = {} }: Call): Json => {
    const streamFields = delivery === 'stream' ? entry.stream : {};
    const modelField = entry.pathOf === undefined ? { model: `${name}/${model}` } : {};
    return { ...modelField, ...entry.fields(text), ...streamFields, ...more };
  };
  return {
    ...column,
    harness,
    gate,
    providersOf,
    async recordOf({ headers }, key = harness.key) {
      const id = headers.get('x-request-id');
      const shownCall = await harness.get(`/generation?id=${id}`, { authorization: `Bearer ${key}` });
      const { data } = (await shownCall.json()) as { data: Json };
      return data;
    },
    received: (model) => harness.simulator.calls.filter(({ provider }) => providersOf(model).includes(provider)),
    fieldsOf,
    async send({ base = '/v1', headers = {}, key = harness.key, signal, ...call }) {
      const fields = fieldsOf(call);
      const isForm = entry.files !== undefined && !('images' in fields);
      const path = entry.pathOf?.(`${name}/${call.model}`, delivery === 'stream') ?? base + entry.path;
      const response = await sendRequest(new URL(harness.url).origin + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          ...(isForm ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: isForm ? formOf(fields, entry.files ?? {}) : JSON.stringify(fields),
        signal,
      });
      return framesAsEvents(response);
    },
  };
}

function formOf(fields: Json, files: Readonly<Record<string, Buffer>>): FormData {
  const form = new FormData();
  const append = (name: string, value: unknown): void => {
    if (Array.isArray(value)) for (const part of value) append(`${name}[]`, part);
    else if (typeof value !== 'object' || value === null) form.append(name, String(value));
    else for (const [inner, part] of Object.entries(value)) append(`${name}[${inner}]`, part);
  };
  for (const [name, value] of Object.entries(fields)) append(name, value);
  for (const [name, bytes] of Object.entries(files)) {
    form.append(name, new File([new Uint8Array(bytes)], `${name}.bin`, { type: 'application/octet-stream' }));
  }
  return form;
}
